/**
 * Settings of glibc's allocator, read at the start of a backtest or a collection. Freed memory stays with the process,
 * which soon allocates as much again: candle files are loaded and freed by the megabyte, and fresh memory costs as much
 * as filling it. Part of the task's environment on every host.
 */
export const TASK_ALLOCATOR = { MALLOC_TOP_PAD_: String(64 * 1024 * 1024) };

/**
 * Settings of glibc's allocator, read at the start of a hyperopt worker. Memory that a trial frees is returned to the
 * system, so memory stays flat over thousands of trials. Part of the task's environment on every host.
 */
export const HYPEROPT_ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
