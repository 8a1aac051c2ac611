/** First path segments at the dashboard's address that are never a page. Their unknown paths return 404. */
export const NO_PAGES: readonly string[] = [
  'api',
  'services',
  'docs',
  'openapi.json',
  'assets',
  'downloads',
  'config.json',
];
