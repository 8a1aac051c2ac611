type NumericArray = Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

/** The same value with every typed array in it on shared memory, so that threads read it without a copy of their own. */
export function withSharedArrays<T>(value: T): T {
  if (ArrayBuffer.isView(value)) return sharedCopy(value as unknown as NumericArray) as T;
  if (Array.isArray(value)) return value.map(withSharedArrays) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withSharedArrays(each)])) as T;
}

function sharedCopy(array: NumericArray): NumericArray {
  const Type = array.constructor as new (buffer: SharedArrayBuffer) => NumericArray;
  const copy = new Type(new SharedArrayBuffer(array.byteLength));
  copy.set(array);
  return copy;
}
