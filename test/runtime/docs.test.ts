import { describe, expect, it } from 'vitest';
import { openApiDocument } from '#contract/operations/openapi.ts';
import { VERSION } from '#runtime/version.ts';
import { backendApp } from '../support/backend.ts';

const { app } = backendApp();

describe('documentation page', () => {
  it('page links only paths of its own service, relatively', async () => {
    const response = await app.request('/docs');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await response.text();
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
    expect(links).toHaveLength(4);
    for (const link of links.filter((link) => link !== 'data:,')) {
      expect(link).toMatch(/^docs\//);
      const asset = await app.request(`/${link}`);
      expect(asset.status).toBe(200);
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
    expect(html).not.toMatch(/https?:/);
  });

  it('page allows only its own scripts and styles', async () => {
    const response = await app.request('/docs');
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(await response.text()).not.toMatch(/<script>|<style|\son\w+=/);
  });

  it.each([
    ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8', 'SwaggerUIBundle'],
    ['swagger-ui.css', 'text/css; charset=utf-8', '.swagger-ui'],
    ['start.js', 'text/javascript; charset=utf-8', 'validatorUrl: null'],
  ])('documentation serves %s', async (name, type, content) => {
    const response = await app.request(`/docs/${name}`);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toContain(content);
  });

  it.each(['package.json', 'index.html', '..%2f..%2fpackage.json', '%2e%2e', 'constructor', '__proto__'])(
    'documentation returns 404 for %s',
    async (name) => {
      const response = await app.request(`/docs/${name}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ detail: { code: 'HTTP404' } });
    },
  );
});

it('documentation serves the OpenAPI document of the operations', async () => {
  const response = await app.request('/openapi.json');
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument('backend', VERSION))));
});
