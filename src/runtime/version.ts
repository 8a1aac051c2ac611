import packageJson from '../../package.json' with { type: 'json' };

/** The services' own version: in health, in OpenAPI documents. */
export const VERSION: string = packageJson.version;
