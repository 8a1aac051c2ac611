import { CodedError } from '#contract/errors.ts';

/**
 * Characters of path and query. 500 symbols need 10,500; API Gateway takes 10,240 bytes with all headers, which grow by
 * a half when the query is written out again.
 */
export const MAX_URL_LENGTH = 16_384;
/** The longest list has 1,000 entries. */
const MAX_QUERY_PARAMETERS = 1_100;
/** Characters of all headers; browsers send 1,000, and a token has 2,000. */
export const MAX_HEADERS_LENGTH = 16_384;
const MAX_HEADERS = 100;

/** Throws HTTP414 or HTTP431 for a request whose head is larger than any that makes sense, before anything reads it. */
export function checkHead({ url, headers }: Request): void {
  // From the path: whatever the host is called.
  const target = url.slice(url.indexOf('/', url.indexOf('://') + 3));
  if (target.length > MAX_URL_LENGTH) {
    throw new CodedError('HTTP414', { context: { length: target.length, max: MAX_URL_LENGTH } });
  }
  const parameters = target.split('&').length;
  if (parameters > MAX_QUERY_PARAMETERS) {
    throw new CodedError('HTTP414', {
      message: 'Too many query parameters',
      context: { parameters, max: MAX_QUERY_PARAMETERS },
    });
  }
  const names = [...headers.keys()];
  const length = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (names.length > MAX_HEADERS || length > MAX_HEADERS_LENGTH) {
    throw new CodedError('HTTP431', {
      context: { headers: names.length, length, max_headers: MAX_HEADERS, max_length: MAX_HEADERS_LENGTH },
    });
  }
}
