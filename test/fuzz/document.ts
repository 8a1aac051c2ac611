/** A JSON value of an OpenAPI document. */
type Json = any;

/**
 * The documents of the services as one, so that one run can use in a call what another service answered: each path names its server.
 * Paths that every service has, such as health, are those of the first.
 *
 * Objects of responses are closed, since documents name every field that is returned, and alternatives of required fields, which the
 * documents hide from generators of clients, are put back.
 */
export async function wholeDocument(bases: readonly string[]): Promise<Json> {
  const whole = { openapi: '3.1.0', info: { title: 'Touchstone', version: '1' }, paths: {} as Json };
  const components: Json = { securitySchemes: {} };
  for (const [index, base] of bases.entries()) {
    const response = await fetch(`${base}/openapi.json`);
    if (response.status !== 200) throw new Error(`${base}/openapi.json answers ${response.status}`);
    const document: Json = await response.json();
    const names: Names = (kind, name, closed) => {
      if (kind === 'securitySchemes') return name;
      const renamed = `${closed ? 'Closed' : 'Open'}${index}_${name}`;
      const found = document.components[kind][name];
      components[kind] ??= {};
      if (!(renamed in components[kind])) {
        components[kind][renamed] = {};
        components[kind][renamed] = rewritten(found, names, closed || kind === 'responses');
      }
      return renamed;
    };
    Object.assign(components.securitySchemes, document.components.securitySchemes);
    for (const [path, item] of Object.entries<Json>(document.paths)) {
      if (path in whole.paths) continue;
      whole.paths[path] = rewritten(item, names, false);
      for (const operation of Object.values<Json>(whole.paths[path])) operation['x-server'] = base;
    }
  }
  return { ...whole, components };
}

/** New name of a component, which it also copies. */
type Names = (kind: string, name: string, closed: boolean) => string;

function rewritten(value: Json, names: Names, closed: boolean): Json {
  if (Array.isArray(value)) return value.map((each) => rewritten(each, names, closed));
  if (typeof value !== 'object' || value === null) return value;
  const copy: Json = {};
  for (const [key, each] of Object.entries<Json>(value)) {
    const reference = key === '$ref' && /^#\/components\/(\w+)\/([^/]+)$/.exec(each);
    if (reference) {
      const [, kind, name] = reference as unknown as [string, string, string];
      copy.$ref = `#/components/${kind}/${names(kind, name, closed)}`;
    } else if (key === 'text/event-stream') {
      // Its schema is that of the whole stream, which never ends; schemathesis would apply it to each event.
      copy[key] = {};
    } else copy[key === 'x-any-of' ? 'anyOf' : key] = rewritten(each, names, closed || key === 'responses');
  }
  if (closed && copy.type === 'object' && copy.properties) copy.additionalProperties ??= false;
  return copy;
}
