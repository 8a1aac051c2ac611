import { expect, it } from 'vitest';
import { hyperoptCommandFixture, SEARCH } from './hyperopt-watch-fixture.ts';

/** Watching hyperopt jobs in a terminal: a real process against a real platform. */

const fixture = hyperoptCommandFixture();
const { hyperopt, read } = fixture;

it('hyperopt start --watch prints progress, the best trials and their overfitting diagnostics', async () => {
  const { code, out, err } = await hyperopt(...SEARCH, '--trials', '12', '--watch');
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out).toMatch(/^Started ho-[0-9A-Z]{26}: 12 trials of ml_classifier/);
  expect(out).toMatch(/running \d+ %, \d+ of 12 trials, number \d+ complete -?[\d.]+, best -?[\d.]+/);
  expect(out).toMatch(/│ +Trial │ +Value │ +Windows │ +Worst │ +Median │ +Best │ Parameters/);
  for (const name of ['Deflated Sharpe ratio', 'Probability of overfitting', 'Walk-forward efficiency']) {
    expect(out).toMatch(new RegExp(`${name} +│ +(-|-?[\\d.]+) │ (good|uncertain|bad|unknown)`));
  }
  expect(out).toMatch(/Plateau width[\s\S]*(Probably overfitted|Not proven|No sign of overfitting)/);
  expect(out).toMatch(/Best: model_type (logistic_regression|xgboost), n_estimators \d/);
  expect(out).not.toMatch(/NaN|undefined|\[object/);

  const id = out.match(/ho-[0-9A-Z]{26}/)![0];
  const [result, watched, status, trials, list] = await Promise.all([
    read('result', id),
    read('watch', id, '--json'),
    read('status', id),
    read('trials', id, '--limit', '2'),
    read('list', '--experiment', 'by hand'),
  ]);
  expect(out).toContain(result.out);
  const lines = watched.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { body } = await fixture.platform.strategy.get(`/api/v1/hyperopt/${id}/result`);
  expect(lines.at(-1)).toEqual({ event: 'result', data: body });
  expect(lines.filter(({ event }) => event === 'trial').map(({ data }) => data.ended)).toEqual(
    Array.from({ length: 12 }, (_, i) => i + 1),
  );
  expect(status.out).toContain('100 %: 12 of 12 trials');
  expect(trials.out).toMatch(/More exist: --cursor \S+/);
  expect(list.out).toMatch(`${id} │ completed │ ml_classifier`);
});
