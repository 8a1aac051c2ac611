const SEGMENT = /^[A-Za-z0-9._=-]+$/;
/** S3's own bound. */
const MAX_LENGTH = 1_024;

/** Throws RangeError unless `key` is what the ObjectStore port calls a key; `.` and `..` are no segments. */
export function checkObjectKey(key: string): void {
  const valid = key
    .split('/')
    .every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..');
  if (!valid || key.length > MAX_LENGTH) throw new RangeError(`Not an object key: ${JSON.stringify(key)}`);
}

/** Throws RangeError unless `prefix` is the beginning of keys: empty, or a key that may end anywhere. */
export function checkObjectPrefix(prefix: string): void {
  if (prefix !== '') checkObjectKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
}
