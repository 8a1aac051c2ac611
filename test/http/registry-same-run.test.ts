import { describe, expect, it } from 'vitest';
import { CodedError } from '#contract/values/errors.ts';
import { readSameRunWarnings } from '#domain/transitions/same-run.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';

/** A version of a run whose other version was rolled back or stopped says so wherever it is offered again. */

const engine = fileEngine();

const warningOf = (number: string) =>
  `same_run_as: version 1 of the run of version ${number} was taken out of Production: losses`;

/** Model whose version 1 was stopped; the caller registers its run again. */
async function stopped(): Promise<RegistryFixture> {
  const fixture = await registryFixture(engine);
  await fixture.register();
  await fixture.stage(1);
  await fixture.promote(1);
  await fixture.stop('1');
  return fixture;
}

describe('same_run_as', () => {
  it('is in the responses of register, stage and promote, of the version and of the catalog', async () => {
    const fixture = await stopped();
    const same = { version: '1', reason: 'losses' };
    expect((await fixture.register()).body.warnings).toContain(warningOf('2'));
    expect((await fixture.stage(2)).body.warnings).toContain(warningOf('2'));
    const catalog = async () => (await fixture.get('/api/v1/catalog/strategies')).body.items;
    expect(await catalog()).toMatchObject([{ version: '2', same_run_as: same }]);
    expect((await fixture.promote(2)).body.warnings).toContain(warningOf('2'));
    const { body } = await fixture.get(`/api/v1/models/${MODEL}/versions`);
    const shown = body.versions.map(({ version, same_run_as }: any) => [version, same_run_as]);
    expect(shown).toEqual([
      ['2', same],
      ['1', null],
    ]);
    const detail = await fixture.get(`/api/v1/models/${MODEL}/versions/2`);
    expect(detail.body.same_run_as).toEqual(same);
  });

  it('is in the comparison and in a new challenge', async () => {
    const fixture = await stopped();
    await fixture.backtest('bt-2');
    for (const backtest_run_id of ['bt-1', 'bt-2']) await fixture.register({ backtest_run_id });
    const compared = await fixture.get(`/api/v1/catalog/strategies/${MODEL}/compare?version_a=3&version_b=2`);
    expect(compared.body.warnings).toContain(warningOf('2'));
    expect(compared.body.warnings).not.toContain(warningOf('3'));
    const versions = { champion_version: '3', challenger_version: '2' };
    const created = await fixture.strategy('POST', `/api/v1/models/${MODEL}/challenges`, versions);
    expect([created.status, created.body.warnings]).toEqual([201, expect.arrayContaining([warningOf('2')])]);
  });

  it('names a rolled back version, and ends when that version returns to Production', async () => {
    const fixture = await registryFixture(engine);
    await fixture.backtest('bt-2');
    for (const [version, backtest_run_id] of [
      [1, 'bt-1'],
      [2, 'bt-2'],
    ]) {
      await fixture.register({ backtest_run_id });
      await fixture.stage(version);
      await fixture.promote(version);
    }
    await fixture.register({ backtest_run_id: 'bt-2' });
    const read = async () => (await fixture.get(`/api/v1/models/${MODEL}/versions/3`)).body.same_run_as;
    expect(await read()).toBeNull();
    await fixture.rollback(1, { reason: 'slippage' });
    expect(await read()).toEqual({ version: '2', reason: 'slippage' });
    await fixture.rollback(2);
    expect(await read()).toBeNull();
  });

  it('that cannot be read does not fail the call whose transition is stored', async () => {
    const broken = {
      endedVersions: async () => {
        throw new CodedError('SVC005', { message: 'throttled' });
      },
      read: async () => ({ versions: new Map() }),
    };
    expect(await readSameRunWarnings(broken as never, MODEL, '2')).toEqual([
      'same_run_as: could not be read now; the version shows it',
    ]);
  });
});
