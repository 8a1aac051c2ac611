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

/** Request header with the address of a browser, as CloudFront saw it. Counts only with {@link ORIGIN_TOKEN_HEADER}. */
export const VIEWER_ADDRESS_HEADER = 'x-viewer-ip';
