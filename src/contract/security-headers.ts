/** Headers of every response, for browsers that somebody leads here. What a response sets itself is kept. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // A page of another site can neither embed nor load anything; there are no CORS headers, so none can read it either.
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Of what is reached by TLS alone, that is behind API Gateway: RFC 6797 forbids it elsewhere. */
export const TLS_HEADERS: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=31536000',
};
