import { optional, secret } from './env-fields.ts';

/** Request header with the address of a browser, as CloudFront saw it. It counts only together with {@link ORIGIN_TOKEN_HEADER}. */
export const VIEWER_ADDRESS_HEADER = 'x-viewer-ip';

/** Request header with the token that CloudFront sends to the services, and that no client knows. */
export const ORIGIN_TOKEN_HEADER = 'x-origin-token';

/** Tokens that CloudFront may send: it changes from one to the other. Absent without a dashboard. */
export const originTokens = { ORIGIN_TOKEN: optional(secret), ORIGIN_TOKEN_2: optional(secret) };
