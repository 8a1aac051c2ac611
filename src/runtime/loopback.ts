const LOOPBACK = /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * Whether a request was addressed to this machine by a name of its own, and comes from no web site but one that this
 * machine serves. A site can let its own name point here, and then read every answer; and it can send a form anywhere.
 */
export function isLoopbackRequest(headers: Headers): boolean {
  const origin = headers.get('Origin');
  return LOOPBACK.test(headers.get('Host') ?? '') && (origin === null || LOOPBACK.test(origin));
}
