import { expect, it } from 'vitest';
import { dashboardFixture } from './dashboard-fixture.ts';

/** The dashboard of `npm start`: built when needed, and served when it is built. */

const fixture = dashboardFixture();

it('services answer while the dashboard is being built, and pages open afterwards', async () => {
  const { dashboard, get, script } = await fixture.start();
  const opened = dashboard.open();
  expect(await get('/backtests')).toMatchObject({
    status: 503,
    text: expect.stringContaining('being built'),
  });
  expect(await get('/api/v1/health')).toMatchObject({ status: 200 });
  expect(await opened).toMatchObject({ status: 'ready' });
  expect(await get('/backtests')).toMatchObject({
    status: 200,
    text: expect.stringContaining('<title>small'),
  });
  expect(await script()).toContain('first');

  // The copy is complete, so a start with the same sources builds nothing: there is no vite.
  fixture.write('node_modules', null);
  const second = await fixture.start();
  expect(await second.dashboard.open()).toMatchObject({ status: 'ready' });
  expect(await second.script()).toContain('first');
});

it('failed build is explained at / while the services work, and the next start builds again', async () => {
  fixture.write('web/main.js', 'document.title = <br>;');
  const { dashboard, get } = await fixture.start();
  expect(await dashboard.open()).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('main.js'),
  });
  const page = await get('/');
  expect(page).toMatchObject({ status: 503, text: expect.stringContaining('could not be built') });
  expect(page.text).toContain('main.js');
  expect(page.text).not.toContain('\u001b');
  expect(await get('/api/v1/health')).toMatchObject({ status: 200 });
  expect(fixture.cached()).toEqual([]);

  fixture.write('web/main.js', "document.title = 'mended';");
  const next = await fixture.start();
  await next.dashboard.open();
  expect(await next.script()).toContain('mended');
});

it('page names the commands that help when vite is not installed', async () => {
  fixture.write('node_modules', null);
  const { dashboard, get } = await fixture.start();
  expect(await dashboard.open()).toMatchObject({ status: 'failed' });
  expect((await get('/')).text).toMatch(
    /vite, which builds it, is not installed\. Run npm ci without --omit=dev/,
  );
});
