/** Security headers of every response. A header that the response sets itself is kept. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // Pages of other sites can neither embed nor load a response. Without CORS headers they cannot read it either.
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Header of responses behind API Gateway, which uses TLS only: RFC 6797 forbids it elsewhere. */
export const TLS_HEADERS: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=31536000',
};
