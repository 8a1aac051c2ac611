import { useEffect, useRef, useState } from 'react';
import { type ControlProps, Field, FieldGroup, type FieldProps } from './field.tsx';
import { type NumberBounds, numberError, parseNumber } from './number.ts';

/** One line of text. */
export function TextField(
  props: FieldProps & {
    readonly value: string | undefined;
    readonly onChange: (value: string | undefined) => void;
    readonly placeholder?: string;
    readonly maxLength?: number;
  },
) {
  return (
    <Field {...props}>
      {(control) => (
        <input
          {...control}
          type="text"
          autoComplete="off"
          value={props.value ?? ''}
          placeholder={props.placeholder}
          maxLength={props.maxLength}
          onChange={({ target }) => props.onChange(target.value === '' ? undefined : target.value)}
        />
      )}
    </Field>
  );
}

/** Word that is typed for null. */
const NONE = 'none';

interface NumberInputProps extends NumberBounds {
  readonly control: ControlProps;
  readonly value: number | null | undefined;
  readonly onChange: (value: number | null | undefined) => void;
  /** True: the field takes null. */
  readonly takesNone?: boolean | undefined;
  readonly placeholder?: string | undefined;
  readonly label?: string;
  /** What is wrong with a valid number, or with none. */
  readonly problem?: string | undefined;
}

/** A number as typed: `0.` on the way to `0.5` stays. A value that is not valid keeps the form from being sent. */
function NumberInput({
  control,
  value,
  onChange,
  takesNone,
  placeholder,
  label,
  problem,
  min,
  max,
  isInteger,
}: NumberInputProps) {
  const parse = (typed: string) =>
    takesNone && typed.trim().toLowerCase() === NONE ? null : parseNumber(typed);
  const formatted = value === null ? NONE : String(value ?? '');
  const [text, setText] = useState(formatted);
  const shown = Object.is(parse(text), value) ? text : formatted;
  const error = (value === null ? undefined : numberError(shown, { min, max, isInteger })) ?? problem;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.setCustomValidity(error ?? ''), [error]);
  return (
    <input
      ref={input}
      {...control}
      {...(error ? { 'aria-invalid': true } : {})}
      {...(label ? { 'aria-label': label } : {})}
      type="text"
      inputMode={takesNone ? 'text' : isInteger && (min ?? -1) >= 0 ? 'numeric' : 'decimal'}
      autoComplete="off"
      className="num"
      value={shown}
      placeholder={placeholder}
      onChange={({ target }) => {
        setText(target.value);
        onChange(parse(target.value));
      }}
    />
  );
}

interface NumberFieldProps<T> extends FieldProps, NumberBounds {
  readonly value: T | undefined;
  readonly onChange: (value: T | undefined) => void;
  readonly placeholder?: string | undefined;
  /** What is wrong with the value beside its bounds: the form is not sent. */
  readonly problem?: string | undefined;
}

/** A number; empty means the default, which `placeholder` shows. */
export function NumberField({ onChange, ...props }: NumberFieldProps<number>) {
  return <AnyNumberField {...props} onChange={(value) => onChange(value ?? undefined)} />;
}

/** A number, or the word none for null; empty means the default. */
export function NumberOrNoneField(props: NumberFieldProps<number | null>) {
  return <AnyNumberField {...props} takesNone />;
}

function AnyNumberField(props: NumberFieldProps<number | null> & Pick<NumberInputProps, 'takesNone'>) {
  const { value, onChange, takesNone, min, max, isInteger, placeholder, problem } = props;
  const error = numberError(String(value ?? ''), { min, max, isInteger }) ?? problem;
  return (
    <Field {...props} error={error}>
      {(control) => (
        <NumberInput
          {...{ control, value, onChange, takesNone, min, max, isInteger, placeholder, problem }}
        />
      )}
    </Field>
  );
}

export interface Range {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** The two ends of a range within `min` and `max`; an empty end means that bound. Errors of the API at `path.min` stand here too. */
export function RangeField(
  props: FieldProps & NumberBounds & { readonly value: Range; readonly onChange: (value: Range) => void },
) {
  const { value, onChange, min, max, isInteger, label } = props;
  const ends = (['min', 'max'] as const).map((end) => ({ end, bound: props[end] }));
  const text = (number: number | undefined) => (number === undefined ? '' : String(number));
  const isCrossed = value.min !== undefined && value.max !== undefined && value.min > value.max;
  const error =
    ends.map(({ end }) => numberError(text(value[end]), { min, max, isInteger })).find(Boolean) ??
    (isCrossed ? 'The first number must not be above the second' : undefined);
  return (
    <FieldGroup {...props} error={error}>
      {({ id, name, ...control }) => (
        <div className="range">
          {ends.map(({ end, bound }) => (
            <NumberInput
              key={end}
              control={{ ...control, id: `${id}-${end}`, name: `${name}.${end}` }}
              label={`${label}, ${end === 'min' ? 'from' : 'to'}`}
              value={value[end]}
              onChange={(number) => onChange({ ...value, [end]: number ?? undefined })}
              placeholder={text(bound)}
              {...{ min, max, isInteger }}
            />
          ))}
        </div>
      )}
    </FieldGroup>
  );
}

export interface Dates {
  /** `2026-01-31`, a UTC day. */
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

/** Two UTC days. `min` and `max` limit them, for example to the stored candles. */
export function DateRangeField(
  props: FieldProps & {
    readonly value: Dates;
    readonly onChange: (value: Dates) => void;
    readonly min?: string | undefined;
    readonly max?: string | undefined;
  },
) {
  const { value, onChange, min, max, label } = props;
  const isCrossed = value.start !== undefined && value.end !== undefined && value.start >= value.end;
  const isOutside = [value.start, value.end].some(
    (day) => day !== undefined && ((min !== undefined && day < min) || (max !== undefined && day > max)),
  );
  const error = isCrossed
    ? 'The start must be before the end'
    : isOutside
      ? `Must be within ${min ?? 'the past'} to ${max ?? 'now'}`
      : undefined;
  return (
    <FieldGroup {...props} error={error}>
      {({ id, name, ...control }) => (
        <div className="range">
          {(['start', 'end'] as const).map((end) => (
            <input
              key={end}
              {...control}
              id={`${id}-${end}`}
              name={`${name}.${end}`}
              type="date"
              aria-label={`${label}, ${end} (UTC)`}
              value={value[end] ?? ''}
              min={min}
              max={max}
              onChange={({ target }) => onChange({ ...value, [end]: target.value || undefined })}
            />
          ))}
        </div>
      )}
    </FieldGroup>
  );
}
