import { ChevronDown } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { listed } from '../ui/format.ts';
import { Field, FieldGroup, type FieldProps } from './field.tsx';

export interface Option<T extends string = string> {
  readonly value: T;
  readonly label?: string;
  /** Shown under the label. */
  readonly help?: ReactNode;
}

/** One of a few values. `placeholder` is the entry for none, usually the default. */
export function SelectField<T extends string>(
  props: FieldProps & {
    readonly options: readonly Option<T>[];
    readonly value: T | undefined;
    readonly onChange: (value: T | undefined) => void;
    readonly placeholder?: string;
  },
) {
  return (
    <Field {...props}>
      {(control) => (
        <select
          {...control}
          value={props.value ?? ''}
          onChange={({ target }) => props.onChange((target.value || undefined) as T | undefined)}
        >
          {props.placeholder !== undefined && <option value="">{props.placeholder}</option>}
          {props.options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label ?? value}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/**
 * A box that is on or off.
 *
 * @param denial reason why the caller may not change it
 */
export function CheckField(
  props: FieldProps & {
    readonly denial?: string | undefined;
    readonly value: boolean;
    readonly onChange: (value: boolean) => void;
  },
) {
  const { denial, value, onChange } = props;
  return (
    <Field {...props} help={denial ?? props.help} isLabelAfter>
      {(control) => (
        <input
          {...control}
          type="checkbox"
          checked={value}
          disabled={denial !== undefined}
          onChange={({ target }) => onChange(target.checked)}
        />
      )}
    </Field>
  );
}

interface ManyProps<T extends string> extends FieldProps {
  readonly options: readonly Option<T>[];
  readonly values: readonly T[];
  readonly onChange: (values: readonly T[]) => void;
}

function Checks<T extends string>(
  props: Pick<ManyProps<T>, 'options' | 'values'> & { readonly onToggle: (value: T) => void },
) {
  return (
    <div className="checks">
      {props.options.map(({ value, label, help }) => (
        <label key={value} className="check">
          <input
            type="checkbox"
            checked={props.values.includes(value)}
            onChange={() => props.onToggle(value)}
          />
          <span>
            {label ?? value}
            {help && <span className="field-help"> {help}</span>}
          </span>
        </label>
      ))}
    </div>
  );
}

/** Values in the order of the options: the same choice makes the same request. */
function chosen<T extends string>(
  options: readonly Option<T>[],
  isChosen: (value: T) => boolean,
): readonly T[] {
  return options.map(({ value }) => value).filter(isChosen);
}

/** Some of a few values, all in view. */
export function CheckGroup<T extends string>(props: ManyProps<T>) {
  const { options, values, onChange } = props;
  return (
    <FieldGroup {...props}>
      {() => (
        <Checks
          {...{ options, values }}
          onToggle={(value) =>
            onChange(chosen(options, (each) => values.includes(each) !== (each === value)))
          }
        />
      )}
    </FieldGroup>
  );
}

/**
 * Some of many values: a button that opens a list with a filter.
 * Long because it is the markup of one field: button, list, filter and options.
 */
export function MultiSelect<T extends string>(
  props: ManyProps<T> & {
    /** Shown for none, usually the default. */
    readonly placeholder?: string;
  },
) {
  const id = useId();
  const [filter, setFilter] = useState('');
  const { label, options, values, onChange, placeholder = 'None' } = props;
  const needle = filter.trim().toLowerCase();
  const nameOf = ({ value, label: name }: Option<T>) => name ?? value;
  const found = options.filter((option) => nameOf(option).toLowerCase().includes(needle));
  const names = options.filter(({ value }) => values.includes(value)).map(nameOf);
  const shown = names.length === 0 ? placeholder : listed(names, 2);
  const isFound = (value: T) => found.some((option) => option.value === value);
  return (
    <Field {...props}>
      {({ 'aria-invalid': _, ...control }) => (
        <>
          <button
            {...control}
            type="button"
            className="multi"
            popoverTarget={id}
            aria-label={`${label}: ${shown}`}
          >
            <span className={`multi-text ${names.length === 0 ? 'faint' : ''}`}>{shown}</span>
            <ChevronDown aria-hidden="true" />
          </button>
          {/* biome-ignore lint/a11y/useSemanticElements: a fieldset takes its look and margins along into the popover */}
          <div id={id} popover="auto" className="pop multi-list" role="group" aria-label={label}>
            <input
              type="search"
              aria-label={`Filter ${label.toLowerCase()}`}
              placeholder="Filter"
              value={filter}
              onChange={({ target }) => setFilter(target.value)}
            />
            <div className="row">
              <button
                type="button"
                className="btn small"
                onClick={() => onChange(chosen(options, (each) => values.includes(each) || isFound(each)))}
              >
                All shown
              </button>
              <button
                type="button"
                className="btn small"
                onClick={() => onChange(chosen(options, (each) => values.includes(each) && !isFound(each)))}
              >
                None of them
              </button>
            </div>
            {found.length === 0 && <p className="muted">Nothing matches</p>}
            <Checks
              options={found}
              values={values}
              onToggle={(value) =>
                onChange(chosen(options, (each) => values.includes(each) !== (each === value)))
              }
            />
          </div>
        </>
      )}
    </Field>
  );
}
