const SEGMENT = /^[A-Za-z0-9._=-]+$/;
/** Limit of S3. */
const MAX_LENGTH = 1_024;

/** Throws RangeError unless `key` is valid for the ObjectStore port. The segments `.` and `..` are invalid. */
export function checkObjectKey(key: string): void {
  const valid = key
    .split('/')
    .every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..');
  if (!valid || key.length > MAX_LENGTH) throw new RangeError(`Not an object key: ${JSON.stringify(key)}`);
}

/** Throws RangeError unless `prefix` is empty, a key, or a key and a slash. */
export function checkObjectPrefix(prefix: string): void {
  if (prefix !== '') checkObjectKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
}
