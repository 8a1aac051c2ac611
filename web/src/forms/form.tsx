import { TriangleAlert } from 'lucide-react';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { ApiError } from '../api/client.ts';
import { errorOfField, errorsWithoutField, type FieldErrors } from './errors.ts';

interface FormState {
  readonly errors: FieldErrors;
  /** Label of each field that is shown, by path. */
  readonly fields: ReadonlyMap<string, string>;
  /** Shows errors of `path` at the caller, a field with this label, until the returned function is called. */
  readonly show: (path: string, label: string) => () => void;
}

const CONTROL = ':is(input, select, textarea, button)';
const NO_ERRORS: FieldErrors = {};
/** What the fields of a form, and its sections, know of it. */
export const FormContext = createContext<FormState>({
  errors: NO_ERRORS,
  fields: new Map(),
  show: () => () => {},
});

/** Message of the API about the field with this label at a dotted path of the request. */
export function useFieldError(path: string, label: string): string | undefined {
  const { errors, fields, show } = useContext(FormContext);
  useEffect(() => show(path, label), [show, path, label]);
  return errorOfField(errors, path, fields.keys());
}

/**
 * A form whose fields show the errors of the API by dotted path. Errors without a field, and those that name none, are listed above
 * the buttons. After a rejection, and when a field is not valid, the focus goes to the first invalid field.
 *
 * @param error of the last submission, null if there is none
 */
export function Form(props: {
  readonly label: string;
  readonly error: Error | null;
  readonly onSubmit: () => void;
  readonly actions: ReactNode;
  readonly children: ReactNode;
  /** Fields after the buttons, for settings that few change. */
  readonly more?: ReactNode;
}) {
  const { error } = props;
  const form = useRef<HTMLFormElement>(null);
  const [fields, setFields] = useState<ReadonlyMap<string, string>>(() => new Map());
  const errors = error instanceof ApiError ? error.fields : NO_ERRORS;
  const show = useCallback((path: string, label: string) => {
    setFields((before) => new Map(before).set(path, label));
    return () => setFields((before) => new Map([...before].filter(([each]) => each !== path)));
  }, []);
  const state = useMemo<FormState>(() => ({ errors, fields, show }), [errors, fields, show]);
  useEffect(() => {
    if (error)
      focusFirst(form.current!, `[data-invalid] ${CONTROL}`) || focusFirst(form.current!, '.form-error');
  }, [error]);
  return (
    <FormContext value={state}>
      <form
        ref={form}
        className="stack"
        aria-label={props.label}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (event.currentTarget.checkValidity()) props.onSubmit();
          else focusFirst(event.currentTarget, `${CONTROL}:invalid`);
        }}
      >
        {props.children}
        {error && <FormError error={error} />}
        <div className="row form-actions">{props.actions}</div>
        {props.more}
      </form>
    </FormContext>
  );
}

/** Focuses the first match, and opens the sections that hide it. False: there is none. */
function focusFirst(form: HTMLFormElement, selector: string): boolean {
  const found = form.querySelector<HTMLElement>(selector);
  for (let fold = found?.closest('details'); fold; fold = fold.parentElement?.closest('details')) {
    fold.open = true;
  }
  found?.focus();
  return found !== null;
}

/** A rejection that no shown field explains, or the hint to look at the fields. */
function FormError({ error }: { readonly error: Error }) {
  const { errors, fields } = useContext(FormContext);
  const rest = errorsWithoutField(errors, fields.keys());
  const isAtField = Object.keys(errors).length > 0 && rest.length === 0;
  const api = error instanceof ApiError && error.status > 0 ? error : undefined;
  return (
    <div className="notice form-error" data-tone="down" role="alert" tabIndex={-1}>
      <TriangleAlert aria-hidden="true" />
      <div className="stack tight">
        {isAtField ? (
          <span>Not sent yet: change the fields marked above.</span>
        ) : rest.length > 0 ? (
          rest.map(([path, message]) => (
            <span key={path}>
              <code>{path}</code>: {message}
            </span>
          ))
        ) : (
          <span>{error.message}</span>
        )}
        {api && (
          <span className="muted">
            <code>{api.code}</code>
            {api.correlationId && (
              <>
                {' '}
                · correlation id <code>{api.correlationId}</code>
              </>
            )}
          </span>
        )}
      </div>
    </div>
  );
}
