import { type ReactNode, useId } from 'react';
import { useFieldError } from './form.tsx';

/** Attributes that tie a control to its label, help and error. */
export interface ControlProps {
  readonly id: string;
  readonly name: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

export interface FieldProps {
  readonly label: string;
  /** Dotted path in the request: errors of the API at it, or below it, stand here. */
  readonly path: string;
  readonly help?: ReactNode;
}

/**
 * A control with its label, help and error.
 *
 * @param error of the control itself, such as text that is not a number; without one that of the API
 */
export function Field(
  props: FieldProps & {
    readonly error?: string | undefined;
    /** For a box to check: it stands before its label. */
    readonly isLabelAfter?: boolean;
    readonly children: (control: ControlProps) => ReactNode;
  },
) {
  const { control, notes } = useControl(props);
  const label = <label htmlFor={control.id}>{props.label}</label>;
  return (
    <div className="field" data-invalid={control['aria-invalid']}>
      {props.isLabelAfter ? (
        <div className="check">
          {props.children(control)}
          {label}
        </div>
      ) : (
        <>
          {label}
          {props.children(control)}
        </>
      )}
      {notes}
    </div>
  );
}

/** Several controls with one label, such as the two ends of a range. */
export function FieldGroup(
  props: FieldProps & {
    readonly error?: string | undefined;
    readonly children: (control: ControlProps) => ReactNode;
  },
) {
  const { control, notes } = useControl(props);
  return (
    <fieldset
      className="field"
      data-invalid={control['aria-invalid']}
      aria-describedby={control['aria-describedby']}
    >
      <legend className="label">{props.label}</legend>
      {props.children(control)}
      {notes}
    </fieldset>
  );
}

function useControl({ label, path, help, error }: FieldProps & { readonly error?: string | undefined }) {
  const id = useId();
  const shown = [error, useFieldError(path, label)].find((each) => each !== undefined);
  const described = [shown !== undefined && `${id}-error`, help && `${id}-help`].filter(Boolean).join(' ');
  const control: ControlProps = {
    id,
    name: path,
    ...(described ? { 'aria-describedby': described } : {}),
    ...(shown === undefined ? {} : { 'aria-invalid': true }),
  };
  const notes = (
    <>
      {shown !== undefined && (
        <span id={`${id}-error`} className="field-error">
          {shown}
        </span>
      )}
      {help && (
        <span id={`${id}-help`} className="field-help">
          {help}
        </span>
      )}
    </>
  );
  return { control, notes };
}
