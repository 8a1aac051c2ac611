/**
 * V8 flags, imported before parquet-wasm. V8 compiles WebAssembly quickly and later optimizes functions that run often.
 * For this library the second compilation takes about 150 ms of processor time and 50 MB per process, and reading
 * becomes a fifth faster. That pays from about ten million candles on. V8 also validates all 5 MB at the start, 15 ms.
 * With lazy validation it validates each function at its first call, and few are called.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');
setFlagsFromString('--wasm-lazy-validation');
