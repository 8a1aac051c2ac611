import type { StoredModel } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { ALIAS_LIMITS, REGISTRATION_LIMITS } from '#contract/values/registry-limits.ts';
import { checkTags, isOwnTag } from '../shared/validate.ts';
import {
  applyTransition,
  type TransitionCall,
  type TransitionDeps,
  type TransitionRequest,
} from '../transitions/apply-transition.ts';
import {
  aliasNames,
  existing,
  type FoundVersion,
  lookUpVersion,
  OWN_ALIASES,
  type RequestedVersion,
} from '../transitions/find-version.ts';
import { nextTimestamp, planTransition, stageTransitions } from '../transitions/plan-transition.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';

export interface LabelVersionDeps extends TransitionDeps {
  readonly registry: RegistryStore;
}

/** Names and remarks of users on a version. */
export interface VersionLabels {
  /** With those that the platform sets; they follow the versions and stages, and stay if they are left out. */
  readonly aliases: readonly string[];
  readonly tags: readonly string[];
}

/** The version, and the request for its Idempotency-Key. */
interface LabelledVersion extends RequestedVersion, Pick<TransitionRequest, 'operation' | 'input'> {}

/** Letters, digits, `_` and `-`: an alias is written in paths and in `models:/name@alias`. */
const ALIAS = /^[A-Za-z0-9_-]+$/;
/** Names that would be read as versions. */
const NUMBER = /^[vV]?\d+$/;

/**
 * Changes aliases and tags of a version, and returns its number. One transaction stores both with the event of the history;
 * without a difference nothing is stored. After a write conflict `change` sees the new labels.
 * Throws RES002, RES003, RES005 (an alias of the platform), VAL005 (a malformed alias, too many, a tag too long), SVC005, and
 * what `change` throws.
 */
export async function labelVersion(
  deps: LabelVersionDeps,
  call: TransitionCall,
  { operation, input, ...reference }: LabelledVersion,
  change: (labels: VersionLabels) => Partial<VersionLabels>,
): Promise<string> {
  const { body } = await applyTransition(
    deps,
    stageTransitions(deps.registry),
    { operation, call, input },
    (key) => lookUpVersion(deps.registry, reference, key),
    async (state) => {
      const found = existing(reference, state);
      const { model, version } = found;
      // A tag of the platform that was stored before they were reserved goes with the first change.
      const tagsOfUsers = version.tags.filter((tag) => !isOwnTag(tag));
      const before = { aliases: aliasNames(model, version), tags: tagsOfUsers };
      const wanted = { ...before, ...change(before) };
      const aliases = modelAliases(found, checkAliases(wanted.aliases, before.aliases));
      const tags = checkTags(wanted.tags, REGISTRATION_LIMITS);
      const notes = [
        ...aliasNotes(model.aliases, aliases),
        // The tag last: one that ends with `removed` is told from one that was removed.
        ...without(version.tags, tags).map((tag) => `Removed tag ${tag}`),
        ...without(tags, version.tags).map((tag) => `Tag ${tag}`),
      ];
      if (notes.length === 0) return { body: version.version, write: null };
      const at = nextTimestamp(deps, model);
      const isTagged = without(tags, version.tags).length + without(version.tags, tags).length > 0;
      const write = planTransition(deps, model, {
        action: 'label',
        call,
        at,
        before: version,
        notes,
        aliases,
        version: isTagged ? { ...version, tags, updated_at: at } : version,
      });
      return { body: version.version, write };
    },
  );
  return body;
}

/** Throws RES005 for an alias that follows the versions and stages. */
export function checkAliasIsFree(alias: string, field: string): void {
  const own = alias.toLowerCase();
  if (!OWN_ALIASES.includes(own)) return;
  const follows =
    own === 'champion'
      ? 'champion is the version in Production: promote a version, or roll back to it'
      : 'latest is the newest version: register one';
  throw new CodedError('RES005', {
    message: `The alias ${alias} cannot be set or deleted. ${follows}`,
    field,
    context: { alias },
  });
}

/** The aliases of a request without those of the platform that the version has. Throws RES005, VAL005. */
function checkAliases(wanted: readonly string[], held: readonly string[]): string[] {
  const free = [...new Set(wanted)].filter((alias) => !(OWN_ALIASES.includes(alias) && held.includes(alias)));
  for (const alias of free) {
    checkAliasIsFree(alias, 'aliases');
    if (ALIAS.test(alias) && !NUMBER.test(alias) && alias.length <= ALIAS_LIMITS.alias) continue;
    throw new CodedError('VAL005', {
      message: `An alias has letters, digits, _ and -, up to ${ALIAS_LIMITS.alias} characters, and is not the number of a version`,
      field: 'aliases',
      context: { value: alias.slice(0, 100) },
    });
  }
  return free;
}

/** Aliases of the model when a version has these. Throws VAL005 for too many. */
function modelAliases({ model, version }: FoundVersion, own: readonly string[]): StoredModel['aliases'] {
  const others = model.aliases.filter(
    (each) => each.version !== version.version && !own.includes(each.alias),
  );
  const aliases = [...others, ...own.map((alias) => ({ alias, version: version.version }))];
  if (aliases.length > ALIAS_LIMITS.aliases) {
    throw new CodedError('VAL005', {
      message: `A model has at most ${ALIAS_LIMITS.aliases} aliases: delete one first`,
      field: 'aliases',
      context: { count: aliases.length, max: ALIAS_LIMITS.aliases },
    });
  }
  return aliases.sort((a, b) => (a.alias < b.alias ? -1 : 1));
}

function aliasNotes(before: StoredModel['aliases'], after: StoredModel['aliases']): string[] {
  const old = new Map(before.map(({ alias, version }) => [alias, version]));
  const kept = new Set(after.map(({ alias }) => alias));
  return [
    ...before.filter(({ alias }) => !kept.has(alias)).map(({ alias }) => `Alias ${alias} removed`),
    ...after
      .filter(({ alias, version }) => old.get(alias) !== version)
      .map(({ alias }) => `Alias ${alias}${old.has(alias) ? `, before of version ${old.get(alias)}` : ''}`),
  ];
}

function without(values: readonly string[], others: readonly string[]): string[] {
  return values.filter((value) => !others.includes(value));
}
