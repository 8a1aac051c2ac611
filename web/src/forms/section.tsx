import { type ReactNode, useCallback, useContext, useEffect, useId, useMemo, useState } from 'react';
import { listed, shortPair } from '../ui/format.ts';
import { isObject } from './changes.ts';
import { errorOfField, fieldOf } from './errors.ts';
import { FormContext } from './form.tsx';

/** Settings that a closed section names before it counts the rest. */
const SHOWN_SETTINGS = 4;

/** A leaf of a request that is not at its default. */
interface Setting {
  /** Dotted path, such as `config.params.fast`. */
  readonly path: string;
  readonly value: unknown;
}

/**
 * Folded part of a form. The fold names the settings of its fields that differ from their defaults. The section opens when one of
 * its fields gets such a value or an error; the form opens it as well when one of its fields keeps it from being sent.
 *
 * @param settings settings of the whole form that differ from their defaults
 */
export function FormSection(props: {
  readonly title: string;
  readonly settings: readonly Setting[];
  readonly children: ReactNode;
}) {
  const form = useContext(FormContext);
  const title = useId();
  const [labels, setLabels] = useState<ReadonlyMap<string, string>>(() => new Map());
  const { show: showInForm, errors, fields } = form;
  const show = useCallback(
    (path: string, label: string) => {
      const hide = showInForm(path, label);
      setLabels((before) => new Map(before).set(path, label));
      return () => {
        hide();
        setLabels((before) => new Map([...before].filter(([each]) => each !== path)));
      };
    },
    [showInForm],
  );
  const state = useMemo(() => ({ ...form, show }), [form, show]);
  const [isOpen, setOpen] = useState(false);
  const texts = settingTexts(props.settings, labels);
  const isWrong = [...labels.keys()].some((path) => errorOfField(errors, path, fields.keys()) !== undefined);
  const isChanged = texts.length > 0;
  // Once for each change of the two: who has closed the section finds it closed.
  useEffect(() => {
    if (isChanged || isWrong) setOpen(true);
  }, [isChanged, isWrong]);
  return (
    <details
      className="panel fold"
      aria-labelledby={title}
      open={isOpen}
      onToggle={({ target, currentTarget }) => {
        // One of a section inside of this one comes by as well.
        if (target === currentTarget) setOpen(currentTarget.open);
      }}
    >
      <summary className="fold-head">
        <h2 id={title}>{props.title}</h2>
        <span className="fold-settings">{isChanged ? listed(texts, SHOWN_SETTINGS) : 'Defaults'}</span>
      </summary>
      <FormContext value={state}>{props.children}</FormContext>
    </details>
  );
}

/** Leaves of `request` that differ from those of `defaults`. What the request leaves out is at its default. */
export function settingsBeside(defaults: object, request: object, path = ''): readonly Setting[] {
  const before = defaults as Readonly<Record<string, unknown>>;
  return Object.entries(request).flatMap(([key, value]: [string, unknown]) => {
    const at = path ? `${path}.${key}` : key;
    if (isObject(value)) return settingsBeside(isObject(before[key]) ? before[key] : {}, value, at);
    return JSON.stringify(before[key]) === JSON.stringify(value) ? [] : [{ path: at, value }];
  });
}

/** One text for each field that has such a setting, as "fee per side 0.001". */
function settingTexts(settings: readonly Setting[], labels: ReadonlyMap<string, string>): readonly string[] {
  const values = new Map<string, unknown[]>();
  for (const { path, value } of settings) {
    const field = fieldOf(path, labels.keys());
    if (field !== undefined) values.set(field, [...(values.get(field) ?? []), value]);
  }
  return [...values].map(([field, [value, ...more]]) => {
    // Without the unit.
    const [label = ''] = labels.get(field)!.split(',', 1);
    const name = label.charAt(0).toLowerCase() + label.slice(1);
    return `${name} ${more.length > 0 ? `(${more.length + 1} values)` : settingText(value)}`;
  });
}

function settingText(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (!Array.isArray(value)) return String(value);
  const names = value.filter((each) => typeof each === 'string').map(shortPair);
  return names.length < value.length ? `(${value.length})` : value.length === 0 ? 'none' : listed(names, 2);
}

/** Opens every section of the form that it is in. */
export function OpenSections() {
  return (
    <button
      type="button"
      className="btn plain open-sections"
      onClick={({ currentTarget }) => {
        for (const fold of currentTarget.form!.querySelectorAll<HTMLDetailsElement>('.fold'))
          fold.open = true;
      }}
    >
      Open all
    </button>
  );
}
