import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

/**
 * Compares the AWS commands of docs/runbook.md with the service models of the AWS command line: the operation and each option
 * exist. test/docs/rollback.full.test.ts runs those of the rollback.
 */

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
const commands = new Set(
  [...runbook.matchAll(/\baws ([a-z-]+) ([a-z-]+)((?:[^`;|)]|\\\n)*)/g)].map(
    ([, service, operation, rest]) => {
      const options = [...rest!.matchAll(/ --([a-z-]+)/g)].map(([, option]) => option!);
      return [service, operation, ...new Set(options)].join(' ');
    },
  ),
);

const MODEL = `
import sys, botocore.session
from botocore import xform_name
service, operation, *options = sys.argv[1].split()
service = {'deploy': 'codedeploy'}.get(service, service)
model = botocore.session.get_session().get_service_model(service)
known = {xform_name(name).replace('_', '-'): name for name in model.operation_names}
members = model.operation_model(known[operation]).input_shape.members
accepted = {xform_name(name).replace('_', '-') for name in members}
accepted |= {'no-' + name for name in accepted} | {'output', 'query', 'region', 'max-items', 'no-paginate'}
unknown = [option for option in options if option not in accepted]
if unknown: sys.exit(f'{operation} has no option {unknown}')
`;
const python = (command: string) => spawnSync('python3', ['-c', MODEL, command], { encoding: 'utf8' });
const available = spawnSync('python3', ['-c', 'import botocore']).status === 0;

describe.skipIf(!available)('AWS commands of the runbook (skipped without Python and botocore)', () => {
  test('an unknown operation or option is found', () => {
    expect(python('ecs update-service force-new-deployment').status).toBe(0);
    expect(python('ecs update-services').status).not.toBe(0);
    expect(python('ecs update-service force').stderr).toContain("no option ['force']");
  });

  test.each([...commands])('aws %s', (command) => {
    const { status, stderr } = python(command);
    expect(status, stderr).toBe(0);
  });
});
