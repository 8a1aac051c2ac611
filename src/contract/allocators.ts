/**
 * For glibc's allocator, which reads it at the start of a backtest or a collection: what it gives back stays with the process,
 * which soon takes as much again. Files of candles come and go by the megabyte, and fresh memory costs as much as filling it.
 * Part of the task's environment on every host.
 */
export const TASK_ALLOCATOR = { MALLOC_TOP_PAD_: String(64 * 1024 * 1024) };

/**
 * For glibc's allocator, which reads it at the start of a hyperopt worker: what a trial gives back goes back to the system, so
 * that memory stays flat over thousands of trials. Part of the task's environment on every host.
 */
export const HYPEROPT_ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
