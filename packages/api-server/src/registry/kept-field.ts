import { forgetEmpty } from '@gyropilot/schema/given-value'

/** Undoes the change of one field: it is as it was before, or absent. */
export function keep<T extends object>(
  draft: T,
  before: { readonly [Field in keyof T]?: unknown },
  field: keyof T,
): void {
  forgetEmpty(draft, field)
  if (before[field] === undefined) delete draft[field]
  else draft[field] = before[field] as T[keyof T]
}
