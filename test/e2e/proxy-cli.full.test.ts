import { describe, expect, it } from 'vitest';
import { freshness, krakenFixture, proxyFixture } from './proxy-cli-fixture.ts';

/** `touchstone proxy` as a process. */

const fixture = proxyFixture();
const { proxy, atService } = fixture;

describe('touchstone proxy', () => {
  it.each([
    ['a safe result with an error', freshness, 200],
    ['a rejected operation', { operation: 'drop_tables' }, 400],
    ['an error with safe: false', { ...freshness, safe: false }, 503],
  ])('touchstone proxy exits with 1 for %s', async (_, event, statusCode) => {
    fixture.service.behaviours = [{ status: 503, body: {} }];
    const { code, out } = await proxy(JSON.stringify(event), atService());
    expect(JSON.parse(out).statusCode).toBe(statusCode);
    expect(code).toBe(1);
  });

  it('touchstone proxy prints the error of an event that is not JSON', async () => {
    const { code, out, err } = await proxy('{operation: health}', atService());
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^The event is not JSON: .+ For example: touchstone proxy/);
    expect(err).not.toContain('    at ');
  });
});

describe('touchstone proxy with a running platform', () => {
  const kraken = krakenFixture();

  it('touchstone proxy does not use the platform when service discovery is configured', async () => {
    const noNames = `import dns from 'node:dns';
      dns.lookup = (name, options, done) => {
        process.stderr.write('looked up ' + name);
        done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));
      };`;
    const { code, out, err } = await proxy(JSON.stringify(freshness), {
      TOUCHSTONE_HOME: kraken.platform.home,
      SERVICE_DISCOVERY_NAMESPACE: 'trading.internal',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noNames)}`,
    });
    expect(err).toContain('looked up data-collection.trading.internal');
    expect(JSON.parse(out).body.data.result).toEqual({
      all_fresh: false,
      stale_symbols: [],
      error: 'Data collection could not be reached (1 attempt)',
    });
    expect(code).toBe(1);
  });
});
