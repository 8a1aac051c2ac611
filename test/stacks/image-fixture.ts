import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCKERFILE = join(import.meta.dirname, '../../src/tasks/Dockerfile');

/** Base image of the tasks. Builds take it from buildah's store, without a registry. */
export const BASE = /^ARG BASE_IMAGE=(\S+)/m.exec(readFileSync(DOCKERFILE, 'utf8'))![1]!;

export const buildah = (...args: string[]) =>
  spawnSync('buildah', args, {
    encoding: 'utf8',
    env: { ...process.env, STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' },
  });

/** Why the image cannot be built here; undefined where it can. */
export function missingForImages(): string | undefined {
  if (buildah('--version').error) return 'buildah not found: apt-get install buildah crun mmdebstrap';
  if (buildah('inspect', '--type', 'image', BASE).status === 0) return undefined;
  return `buildah lacks the base image: test/rehearsal/base-image.sh node_modules/.bin/node ${BASE}`;
}
