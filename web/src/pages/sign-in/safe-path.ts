/** The path if it is one of this dashboard, else home: another site must not be reached through the sign-in. */
export function safePath(path: string | undefined): string {
  const url = path && URL.canParse(path, location.origin) && new URL(path, location.origin);
  if (!url || url.origin !== location.origin || url.pathname.startsWith('/sign-in')) return '/';
  // A path of two slashes is the address of another host.
  return `${url.pathname.replace(/^\/+/, '/')}${url.search}`;
}
