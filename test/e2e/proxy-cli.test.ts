import { describe, expect, it } from 'vitest';
import { freshness, krakenFixture, proxyFixture } from './proxy-cli-fixture.ts';

/** `touchstone proxy` as a process. */

const fixture = proxyFixture();
const { proxy, atService } = fixture;

describe('touchstone proxy', () => {
  it('touchstone proxy prints only the envelope as indented JSON; handler metrics go to stderr', async () => {
    fixture.service.behaviours = [{ status: 200, body: { all_fresh: true, stale_symbols: [] } }];
    const { code, out, err } = await proxy(JSON.stringify(freshness), atService());
    const envelope = {
      statusCode: 200,
      body: {
        success: true,
        data: { operation: 'check-freshness', result: { all_fresh: true, stale_symbols: [] } },
      },
    };
    expect(out).toBe(`${JSON.stringify(envelope, null, 2)}\n`);
    expect(JSON.parse(err)).toMatchObject({ operation: 'check-freshness', ProxyErrors: 0 });
    expect(code).toBe(0);
  });

  it('touchstone proxy reads an API Gateway event from stdin and prints its string body', async () => {
    fixture.service.behaviours = [{ status: 200, body: { all_fresh: true, stale_symbols: [] } }];
    const event = { requestContext: { requestId: 'gw-1' }, body: JSON.stringify(freshness) };
    const { code, out } = await proxy('-', atService(), JSON.stringify(event));
    expect(JSON.parse(JSON.parse(out).body)).toMatchObject({ success: true });
    expect(code).toBe(0);
  });

  it('touchstone proxy starts a temporary platform when none runs', async () => {
    const { code, out } = await proxy('{"operation":"symbols"}');
    expect(JSON.parse(out).body.data.result).toEqual({ exchange: 'sim', symbols: [], count: 0 });
    expect(code).toBe(0);
  });
});

describe('touchstone proxy with a running platform', () => {
  const kraken = krakenFixture();

  it('touchstone proxy uses the data collection of the platform', async () => {
    const { out } = await proxy('{"operation":"symbols"}', { TOUCHSTONE_HOME: kraken.platform.home });
    expect(JSON.parse(out).body.data.result.exchange).toBe('kraken');
  });
});
