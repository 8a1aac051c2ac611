import { assemble, type Import } from './assembler.ts';
import { binValues, sortValues } from './binning.ts';
import { addTrees } from './forest.ts';
import { addToScores, computeGradients, finishLeaf, packGradients, sumBins } from './gradients.ts';
import { ADDERS, partition, SUMS_END, takeSums } from './histogram.ts';
import { addGains, findSplit } from './split.ts';

const FUNCTIONS = {
  sortValues,
  binValues,
  addTrees,
  computeGradients,
  packGradients,
  finishLeaf,
  addToScores,
  sumBins,
  ...ADDERS,
  takeSums,
  partition,
  findSplit,
  addGains,
};

/** In the order of their indices in `gradients.ts`. */
const IMPORTS: readonly Import[] = [
  { name: 'exp', parameters: ['f64'], result: 'f64' },
  { name: 'log', parameters: ['f64'], result: 'f64' },
];

type KernelFunctions = Readonly<Record<keyof typeof FUNCTIONS, (...values: readonly number[]) => number>>;

const PAGE = 65_536;
/** Start of the memory that is given out. Below are fixed areas of the functions. */
const FIRST = SUMS_END;
/** Addresses are multiples of a cache line. */
const LINE = 64;
const MAX_BYTES = 2 ** 32 - PAGE;
/** A kernel with more memory is not kept for the next use. */
const KEPT_BYTES = 2 ** 27;

/** Instance of the WebAssembly module with a memory of its own. */
export interface Kernel {
  readonly run: KernelFunctions;
  /**
   * Address of so many bytes of arbitrary content. Views of the memory from before must not be used afterwards.
   *
   * @throws RangeError when the memory is full: 4 GB
   */
  take(bytes: number): number;
  u8(address: number, length: number): Uint8Array;
  i32(address: number, length: number): Int32Array;
  f64(address: number, length: number): Float64Array;
}

interface OwnKernel extends Kernel {
  readonly bytes: () => number;
  readonly reset: () => void;
}

let module: WebAssembly.Module | undefined;
const free: OwnKernel[] = [];

function createKernel(): OwnKernel {
  module ??= new WebAssembly.Module(assemble(IMPORTS, FUNCTIONS));
  const { exports } = new WebAssembly.Instance(module, { imports: { exp: Math.exp, log: Math.log } });
  const memory = exports.memory as WebAssembly.Memory;
  let end = FIRST;
  return {
    run: exports as unknown as KernelFunctions,
    take(bytes) {
      const at = end;
      end += Math.ceil(bytes / LINE) * LINE;
      if (end > MAX_BYTES)
        throw new RangeError('A model needs more than 4 GB for its rows. Pass fewer rows or features.');
      const missing = end - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
      return at;
    },
    u8: (address, length) => new Uint8Array(memory.buffer, address, length),
    i32: (address, length) => new Int32Array(memory.buffer, address, length),
    f64: (address, length) => new Float64Array(memory.buffer, address, length),
    bytes: () => memory.buffer.byteLength,
    reset: () => {
      end = FIRST;
    },
  };
}

/** Lends a kernel for one call. Its memory is used again afterwards. */
export function withKernel<T>(use: (kernel: Kernel) => T): T {
  const kernel = free.pop() ?? createKernel();
  try {
    return use(kernel);
  } finally {
    kernel.reset();
    if (kernel.bytes() <= KEPT_BYTES) free.push(kernel);
  }
}
