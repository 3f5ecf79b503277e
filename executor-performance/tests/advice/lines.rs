{
    {
        let pool = executors::threadpool_executor::ThreadPoolExecutor::builder().threads(2).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::crossbeam_channel_pool::ThreadPool::builder().threads(2).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(2).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(2).idle(executors::Idle::PARK).fairness(executors::Fairness::TIMED).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(2).idle(executors::Idle::PARK).fairness(executors::Fairness::COUNTED).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(2).idle(executors::Idle::Spin).fairness(executors::Fairness::TIMED).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(2).idle(executors::Idle::Spin).fairness(executors::Fairness::COUNTED).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(2).parker(executors::parker::small()).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(2).parker(executors::parker::large()).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::crossbeam_workstealing_pool::ThreadPool::builder().threads(2).parker(executors::parker::dynamic()).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::burst_pool::ThreadPool::builder().threads(2).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::burst_pool::ThreadPool::builder().threads(2).stealing(false).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::elastic_pool::ThreadPool::builder().threads(2).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::elastic_pool::ThreadPool::builder().core(0).max(2).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::dispatcher::Dispatcher::builder().threads(2).cpu_limit(2).build()?;
        pool.shutdown()?;
    }
    {
        let pool = executors::dispatcher::Dispatcher::builder().threads(2).cpu_limit(2).build()?;
        let urgent = pool.cpu().with_priority(executors::dispatcher::Priority::HIGH);
        pool.shutdown()?;
    }
    {
        let pool = executors::dispatcher::Dispatcher::builder().threads(2).cpu_limit(2).subpool("limited", 1).build()?;
        let limited = pool.subpool("limited")?;
        pool.shutdown()?;
    }
    {
        let pool = executors::dispatcher::Dispatcher::builder().threads(3).cpu_limit(2).bound_subpool("bound").build()?;
        let bound = pool.subpool("bound")?;
        pool.shutdown()?;
    }
    {
        let pool = executors::dispatcher::Dispatcher::builder().threads(3).cpu_limit(2).subpool("limited", 1).bound_subpool("bound").build()?;
        let limited = pool.subpool("limited")?;
        let bound = pool.subpool("bound")?;
        let urgent = pool.cpu().with_priority(executors::dispatcher::Priority::HIGH);
        pool.shutdown()?;
    }
    {
        let pool = executors::dispatcher::Dispatcher::builder().threads(2).cpu_limit(2).strict_order(true).build()?;
        pool.shutdown()?;
    }
    Ok(())
}
