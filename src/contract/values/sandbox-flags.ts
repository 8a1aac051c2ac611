/**
 * Flags of Node and V8 at the start of each process that runs strategy code or judges its results:
 * - V8's flags cannot change afterwards. V8 writes traces to any path that a flag names, past Node's permission model.
 * - Built-in objects are frozen: strategy and engine share them, and a replaced `Math.sqrt` would change metrics.
 * - Strings are not compiled as code: that code has no address, by which its imports are checked.
 *
 * A call of `setFlagsFromString` in such a process ends it. `NODE_OPTIONS` rejects the first flag, so a process of Lambda itself runs
 * without them.
 */
export const SANDBOX_FLAGS = [
  '--freeze-flags-after-init',
  '--frozen-intrinsics',
  '--disallow-code-generation-from-strings',
  // Frozen built-in objects are experimental, as the permission model was: each task would log a warning.
  '--disable-warning=ExperimentalWarning',
] as const;
