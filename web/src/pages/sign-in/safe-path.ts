/** The path if it is one of this dashboard, else home: another site must not be reached through the sign-in. */
export function safePath(path: string | undefined): string {
  if (!path) return '/';
  const url = new URL(path, location.origin);
  return url.origin === location.origin && !url.pathname.startsWith('/sign-in')
    ? `${url.pathname}${url.search}`
    : '/';
}
