import type { KeyValue } from '#contract/registry/mlflow-api.ts';
import { CodedError } from '#contract/values/errors.ts';
import { isOwnTag, OWN_TAGS } from '../shared/validate.ts';

/** Tags of MLflow's client, stored as the tags `key=value` of a version; a tag without a value is only its key. */

/** Keys of MLflow, without a path that leaves its folder: https://mlflow.org/docs/latest/ml/model-registry */
const KEY = /^[\p{L}\p{N}_\-. /:]+$/u;
const IMAGE = `${OWN_TAGS}container_image_uri`;

/** Key of a tag, as MLflow's clients see it. */
const keyOf = (tag: string) => (tag.indexOf('=') < 1 ? tag : tag.slice(0, tag.indexOf('=')));

/** The tags with this one, instead of another of its key. Throws VAL005 for a malformed key, RES005 for one of the platform. */
export function withTag(tags: readonly string[], { key, value }: KeyValue): string[] {
  checkKey(key);
  return [...withoutTag(tags, key), value === '' ? key : `${key}=${value}`];
}

/** The tags without those of a key. Throws as {@link withTag}. */
export function withoutTag(tags: readonly string[], key: string): string[] {
  checkKey(key);
  return tags.filter((tag) => keyOf(tag) !== key);
}

/** Tags of a new version, and the image that one of them names. Throws as {@link withTag}. */
export function registrationTags(tags: readonly KeyValue[]): { tags: string[]; image: string | undefined } {
  const others = tags.filter(({ key }) => key !== IMAGE);
  return {
    tags: others.reduce<string[]>(withTag, []),
    image: tags.find(({ key }) => key === IMAGE)?.value,
  };
}

function checkKey(key: string): void {
  if (!KEY.test(key)) {
    throw new CodedError('VAL005', {
      message: `key must have letters, digits, spaces and _ - . / : only: ${JSON.stringify(key.slice(0, 100))}`,
      field: 'key',
      context: { value: key.slice(0, 100) },
    });
  }
  if (!isOwnTag(key)) return;
  throw new CodedError('RES005', {
    message: `The platform sets the tags ${OWN_TAGS}…: ${key.slice(0, 100)} cannot be set or deleted`,
    field: 'key',
    context: { key: key.slice(0, 100) },
  });
}
