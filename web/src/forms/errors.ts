/** Messages of invalid fields by dotted path, as in `ApiError.fields`. */
export type FieldErrors = Readonly<Record<string, string>>;

/** True if an error at `path` belongs to the field: the field itself, or a part of it such as `pairs.0` of `pairs`. */
function belongsTo(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

/** The most specific of the fields to which a path belongs; undefined for none. */
export function fieldOf(path: string, fields: Iterable<string>): string | undefined {
  return [...fields]
    .filter((field) => belongsTo(path, field))
    .reduce<string | undefined>(
      (best, field) => (best !== undefined && best.length >= field.length ? best : field),
      undefined,
    );
}

/** Message of the field's error, if it has one. `fields`: every field shown; the most specific one takes an error. */
export function errorOfField(
  errors: FieldErrors,
  field: string,
  fields: Iterable<string>,
): string | undefined {
  const all = [...fields];
  const found = Object.entries(errors).find(
    ([path]) =>
      belongsTo(path, field) &&
      !all.some((other) => other.length > field.length && belongsTo(other, field) && belongsTo(path, other)),
  );
  return found?.[1];
}

/** Errors at which no field is shown, as `[path, message]`. */
export function errorsWithoutField(
  errors: FieldErrors,
  fields: Iterable<string>,
): readonly (readonly [path: string, message: string])[] {
  const all = [...fields];
  return Object.entries(errors).filter(([path]) => !all.some((field) => belongsTo(path, field)));
}
