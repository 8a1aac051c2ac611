/**
 * Imported before parquet-wasm. V8 compiles WebAssembly quickly and then once more, optimised, what has run for a moment:
 * of this library that takes some 150 ms of processor time and 50 MB in every process, for code that reads a fifth faster.
 * A second compilation would pay from about ten million candles on. It also looks at once whether all of the 5 MB are sound,
 * 15 ms at every start: each function is looked at when it is first called, and few are.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');
setFlagsFromString('--wasm-lazy-validation');
