import * as z from 'zod';
import type { ServiceName } from '../values/operation.ts';

const AssetParams = z.object({
  asset: z
    .string()
    .min(1)
    .max(100)
    .meta({
      description: 'A file that the documentation page links',
      examples: ['start.js', 'swagger-ui.css', 'swagger-ui-bundle.js'],
    }),
});

/** The rows that every service has: its interactive documentation, offline too, and its OpenAPI document. */
export function documentationOperations<S extends ServiceName, P extends string>(service: S, prefix: P) {
  return [
    {
      id: `get${prefix}Docs`,
      service,
      method: 'GET',
      path: '/docs',
      tag: 'Documentation',
      summary: 'Interactive documentation',
      success: { 200: { description: 'A page', contentType: 'text/html' } },
      errors: [],
      access: 'public',
    },
    {
      id: `get${prefix}DocsAsset`,
      service,
      method: 'GET',
      path: '/docs/{asset}',
      tag: 'Documentation',
      summary: 'A script or style sheet of the documentation page',
      params: AssetParams,
      success: { 200: { description: 'The file', contentType: '*/*' } },
      errors: ['HTTP404'],
      access: 'public',
    },
    {
      id: `get${prefix}OpenApi`,
      service,
      method: 'GET',
      path: '/openapi.json',
      tag: 'Documentation',
      summary: 'This document',
      success: {
        200: {
          description: 'OpenAPI 3.1',
          schema: z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApiDocument' }),
        },
      },
      errors: [],
      access: 'public',
    },
  ] as const;
}
