import { matching } from './generate.ts';
import { anyValue, boundaryValue, hostileText, PROTOTYPE_KEYS } from './hostile.ts';
import { MALFORMED_HEADERS, MEDIA_TYPES, SEGMENTS } from './malformed-values.ts';
import * as change from './mutate.ts';
import { type Draft, encode, type Place } from './request.ts';

/** Kinds of invalid or odd requests. Each changes the draft of a valid one. */

type Change = (draft: Draft, place: Place) => void;

export interface Kind {
  /** Approximate number per 100 requests. */
  readonly weight: number;
  /** Only for operations that have this part. */
  readonly needs?: 'body' | 'path' | 'token';
  readonly change: Change;
}

function onBody(mutate: (body: any, place: Place) => Draft['body']): Change {
  return (draft, place) => {
    draft.body = mutate(draft.body, place);
  };
}

/** Changes the body if there is one, else a parameter. */
function somewhere(
  mutate: (body: any, place: Place) => Draft['body'],
  value: (place: Place) => string,
): Change {
  return (draft, place) => {
    const { random } = place.sources;
    if (place.operation.body && random.bool(0.8)) draft.body = mutate(draft.body, place);
    else changeParameter(draft, place, value(place));
  };
}

function changeParameter(draft: Draft, { operation, sources }: Place, value: string): void {
  const named = operation.parameters.filter((parameter) => parameter.in !== 'header');
  if (named.length === 0) {
    draft.query.push([hostileText(sources.random), value]);
    return;
  }
  const { name, in: where } = sources.random.pick(named);
  if (where === 'path') draft.variables[name] = value || 'x';
  else draft.query.splice(0, draft.query.length, ...withQuery(draft.query, name, value));
}

function withQuery(query: Draft['query'], name: string, value: string): Draft['query'] {
  return [...query.filter(([other]) => other !== name), [name, value]];
}

const text = ({ sources: { random } }: Place) => hostileText(random);

function boundaryText({ operation, sources: { random, document } }: Place): string {
  const schemas = operation.parameters.map(({ schema }) => document.resolve(schema));
  return schemas.length === 0 ? '' : String(boundaryValue(random.pick(schemas), random));
}

function brokenJson(draft: Draft, { sources: { random } }: Place): void {
  const json = JSON.stringify(draft.body ?? {});
  const texts = [
    json.slice(0, random.int(0, json.length - 1)),
    `${json}${json}`,
    json.replaceAll('"', "'"),
    json.replace('}', ',}'),
    `\ufeff${json}`,
    json.replace('{', '{"priority":NaN,'),
    json.replace('{', '{"a":1,"a":2,"__proto__":{"x":1},'),
    json.replace('{', '{/* */'),
    '[1,2',
    '\0',
    ' ',
    `{"config":"${'\\'.repeat(99)}`,
    `${'9'.repeat(400)}`,
    '{"priority":1e400}',
  ];
  const bytes = [...texts.map((each) => Buffer.from(each)), Buffer.from([0xff, 0xfe, 0x7b]), INVALID_UTF8];
  draft.rawBody = random.pick(bytes);
}

const INVALID_UTF8 = Buffer.from('7b2261223a22eda08022 7d'.replace(' ', ''), 'hex');

function deep(draft: Draft, { sources: { random } }: Place): void {
  const depth = random.pick([60, 64, 65, 200, 5000, 100_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"config":', '}'],
    ['[{"a":', '}]'],
  ]);
  const whole = `${open.repeat(depth)}1${close.repeat(random.bool(0.2) ? 0 : depth)}`;
  draft.rawBody = Buffer.from(random.bool() ? whole : `{"config":${whole},"params":${whole}}`);
}

function mediaType(draft: Draft, { sources: { random } }: Place): void {
  draft.body ??= {};
  draft.headers['Content-Type'] = random.pick(MEDIA_TYPES);
  if (random.bool(0.3)) draft.headers['Content-Encoding'] = random.pick(['gzip', 'br', 'identity', 'x']);
}

function method(draft: Draft, { operation, sources: { random } }: Place): void {
  const all = [
    'GET',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'HEAD',
    'TRACE',
    'PROPFIND',
    'QUERY',
    'LOCK',
  ];
  draft.method = random.pick(all.filter((each) => each !== operation.method));
  if (draft.method === 'GET' || draft.method === 'HEAD' || draft.method === 'TRACE') draft.body = undefined;
}

function query(draft: Draft, { operation, sources: { random } }: Place): void {
  const names = operation.parameters.filter((each) => each.in === 'query').map(({ name }) => name);
  const name = names.length > 0 ? random.pick(names) : 'limit';
  const value = encode(hostileText(random));
  draft.rawQuery = random.pick([
    `${name}=${value}&${name}=${value}`,
    `${name}`,
    `${name}=`,
    `${name}[]=1&${name}[a]=2`,
    `${name.toUpperCase()}=1`,
    `=${value}&&&`,
    `${encode(random.pick(PROTOTYPE_KEYS))}=${value}`,
    `${name}=%zz%`,
    `${name}=%00%ED%A0%80%FF`,
    `%6c%69mit=1&${name}=a+b%20c`,
    `${name}=${'%F0%9F%92%A5'.repeat(1000)}`,
    Array.from({ length: 500 }, (_, index) => `q${index}=1`).join('&'),
    `${name}=1;${name}=2?x=#`.replace('#', '%23'),
    `${name}=${'1,'.repeat(1500)}`,
  ]);
}

function headers(draft: Draft, { sources: { random } }: Place): void {
  const [name, value] = random.pick(MALFORMED_HEADERS);
  draft.headers[name === '__proto__' ? '__Proto__' : name] = value;
}

function path(draft: Draft, { operation, sources: { random, document } }: Place): void {
  const plain = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encode(draft.variables[name] ?? 'x'),
  );
  const variables = operation.parameters.filter((each) => each.in === 'path');
  if (variables.length > 0 && random.bool(0.8)) {
    const { name, schema } = random.pick(variables);
    const { pattern } = document.resolve(schema);
    const unknown = pattern ? matching(new RegExp(pattern, 'u'), random) : 'unknown_thing';
    const segment = random.bool(0.25) ? unknown : random.pick([...SEGMENTS, encode(hostileText(random))]);
    draft.rawPath = operation.path.replaceAll(/\{(\w+)\}/g, (_, each: string) =>
      each === name ? segment : encode(draft.variables[each] ?? 'x'),
    );
    return;
  }
  draft.rawPath = random.pick([
    `/${plain}`,
    `${plain}/`,
    `${plain}//`,
    plain.toUpperCase(),
    plain.replace('/', '/./'),
    `/x/..${plain}`,
    `${plain}%2F`,
    `${plain};v=1`,
    `${plain}%00`,
    `${plain}.json`,
    plain.replaceAll('a', '%61'),
    plain.replaceAll('/', '\\'),
    `http://evil.example${plain}`,
    `${plain}/${'x/'.repeat(500)}`,
    '/%',
  ]);
}

function size(draft: Draft, { sources: { random } }: Place): void {
  if (random.bool(0.5)) draft.body = change.withHugeValue(draft.body ?? {}, random);
  else
    draft.rawBody = Buffer.from(
      JSON.stringify('x'.repeat(random.pick([1024 * 1024 - 2, 1024 * 1024 - 1, 2_000_000]))),
    );
}

const none: Change = () => undefined;

export const KINDS: Readonly<Record<string, Kind>> = {
  valid: { weight: 28, change: none },
  // The campaign sends several copies together.
  'at once': { weight: 3, change: none },
  boundary: {
    weight: 9,
    change: somewhere(
      (body, { operation, sources: { random, document } }) =>
        change.withBoundary(body, operation.body!, document, random),
      boundaryText,
    ),
  },
  'wrong type': {
    weight: 8,
    change: somewhere(
      (body, { sources: { random } }) => change.withWrongType(body, random),
      ({ sources: { random } }) => JSON.stringify(anyValue(random)),
    ),
  },
  missing: {
    weight: 5,
    needs: 'body',
    change: onBody((body, { sources }) => change.withMissing(body, sources.random)),
  },
  extra: {
    weight: 5,
    needs: 'body',
    change: onBody((body, { sources }) => change.withExtraKeys(body, sources.random)),
  },
  huge: { weight: 2, needs: 'body', change: size },
  unicode: {
    weight: 8,
    change: somewhere((body, { sources: { random } }) => change.withHostileText(body, random), text),
  },
  deep: { weight: 2, needs: 'body', change: deep },
  'not JSON': { weight: 4, needs: 'body', change: brokenJson },
  'media type': { weight: 3, change: mediaType },
  method: { weight: 4, change: method },
  query: { weight: 6, change: query },
  headers: { weight: 6, change: headers },
  path: { weight: 7, change: path },
  'no token': { weight: 4, needs: 'token', change: none },
  'bad token': { weight: 4, needs: 'token', change: none },
  'low role': { weight: 4, needs: 'token', change: none },
};

/** Names of the kinds that fit an operation, each as often as its weight. */
export function kindsFor(operation: Place['operation'], tokens: boolean): string[] {
  return Object.entries(KINDS).flatMap(([name, { weight, needs }]) => {
    if (needs === 'body' && !operation.body) return [];
    if (needs === 'token' && !(tokens && operation.secured)) return [];
    return Array<string>(weight).fill(name);
  });
}
