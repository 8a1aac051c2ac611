import { isIP } from 'node:net';
import { ORIGIN_TOKEN_HEADER, VIEWER_ADDRESS_HEADER } from '#contract/env/origin-token.ts';
import { isToken } from './fixed-tokens.ts';

/** Address of the browser, for requests that CloudFront sent. Undefined for all others, whose header anyone may write. */
export function viewerAddress(
  headers: Headers,
  tokens: readonly (string | undefined)[] = [],
): string | undefined {
  const token = headers.get(ORIGIN_TOKEN_HEADER);
  if (token === null || !tokens.some((each) => each !== undefined && isToken(token, each))) return undefined;
  const address = headers.get(VIEWER_ADDRESS_HEADER) ?? '';
  return isIP(address) > 0 ? address : undefined;
}
