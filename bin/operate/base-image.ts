/** Pins the base image of the tasks in the settings: `npm run base-image`. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const STAGES = ['dev', 'test', 'prod'];
const DEFAULT_IMAGE = 'public.ecr.aws/docker/library/node:24-slim';

const USAGE = `usage: npm run base-image -- [--image REGISTRY/NAME:TAG] [--stage dev|test|prod]... [--settings FILE]

Asks the registry which image for linux/arm64 the tag names now, and writes its digest as baseImage into the settings.

  --image     image with a tag (default: ${DEFAULT_IMAGE})
  --stage     stages to change (default: all)
  --settings  default: touchstone.config.json`;

/** OCI and Docker: an index of one image for several platforms. */
const INDEX_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];
const MANIFEST_TYPES = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const TIMEOUT_MS = 30_000;

interface Manifest {
  readonly digest: string;
  readonly platform?: { readonly os?: string; readonly architecture?: string };
}

/**
 * The image for linux/arm64 that a tag names: `registry/name:tag@sha256:…`.
 *
 * @throws Error when the registry does not respond, or its response does not match its digest
 */
export async function pinnedImage(image: string): Promise<string> {
  const [, registry, name, tag] =
    /^((?:[a-z0-9-]+\.)+[a-z0-9-]+(?::\d+)?)\/([a-z0-9._/-]+):([\w.-]{1,128})$/.exec(image) ?? [];
  if (!registry)
    throw new Error(`--image is "${image}". Pass a registry, a name and a tag, such as ${DEFAULT_IMAGE}`);
  // Docker's rule: plain HTTP on this computer only.
  const scheme = registry.startsWith('127.0.0.1:') ? 'http' : 'https';
  const url = `${scheme}://${registry}/v2/${name}/manifests/`;
  const index = await getVerified(`${url}${tag}`, INDEX_TYPES);
  const { manifests = [] } = JSON.parse(index.text) as { manifests?: readonly Manifest[] };
  const found = manifests.find(
    ({ platform, digest }) =>
      platform?.os === 'linux' && platform.architecture === 'arm64' && DIGEST.test(digest),
  );
  if (!found) throw new Error(`${image} has no image for linux/arm64. Choose another image or tag.`);
  // The registry may have deleted it, or be a cache that cannot fetch it.
  await getVerified(`${url}${found.digest}`, MANIFEST_TYPES, found.digest);
  return `${image}@${found.digest}`;
}

/** Reads a manifest with an anonymous token if the registry asks for one, and checks its digest. */
async function getVerified(url: string, types: readonly string[], expected?: string) {
  const headers: Record<string, string> = { Accept: types.join(', ') };
  let response = await get(url, headers);
  if (response.status === 401) {
    headers.Authorization = `Bearer ${await anonymousToken(response.headers.get('WWW-Authenticate') ?? '')}`;
    response = await get(url, headers);
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} returned status ${response.status}: ${text.slice(0, 200)}`);
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const stated = expected ?? response.headers.get('Docker-Content-Digest') ?? digest;
  if (digest !== stated) throw new Error(`${url} returned ${digest}, but states ${stated}. Do not use it.`);
  return { text, digest };
}

async function anonymousToken(challenge: string): Promise<string> {
  const parameters = new Map(
    [...challenge.matchAll(/\b(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  const realm = parameters.get('realm');
  if (!challenge.startsWith('Bearer ') || !realm) {
    throw new Error('The registry needs credentials. Use a registry that is readable without.');
  }
  const url = new URL(realm);
  for (const name of ['service', 'scope']) {
    const value = parameters.get(name);
    if (value) url.searchParams.set(name, value);
  }
  const response = await get(String(url), {});
  if (!response.ok) throw new Error(`${url.origin} returned status ${response.status} instead of a token`);
  const { token, access_token } = (await response.json()) as { token?: string; access_token?: string };
  return token ?? access_token ?? '';
}

async function get(url: string, headers: Record<string, string>): Promise<Response> {
  try {
    return await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    throw new Error(`${new URL(url).host} did not respond: ${String((error as Error).cause ?? error)}`);
  }
}

type Settings = { stages?: Record<string, { baseImage?: string }> };

function readSettings(file: string): Settings {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}. Fix it, then run this again.`);
  }
}

/** Sets `baseImage` of stages in a settings file and keeps everything else. */
function writeSettings(file: string, settings: Settings, stages: readonly string[], baseImage: string): void {
  settings.stages ??= {};
  for (const stage of stages) {
    console.log(`${stage}: ${settings.stages[stage]?.baseImage ?? 'not pinned'} -> ${baseImage}`);
    settings.stages[stage] = { ...settings.stages[stage], baseImage };
  }
  writeFileSync(`${file}.new`, `${JSON.stringify(settings, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      image: { type: 'string', default: DEFAULT_IMAGE },
      stage: { type: 'string', multiple: true, default: STAGES },
      settings: { type: 'string', default: 'touchstone.config.json' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const unknown = values.stage.find((stage) => !STAGES.includes(stage));
  if (unknown) throw new Error(`Unknown stage "${unknown}". Use --stage ${STAGES.join('|')}`);
  const settings = readSettings(values.settings);
  writeSettings(values.settings, settings, values.stage, await pinnedImage(values.image));
}

if (import.meta.main) {
  await main().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
