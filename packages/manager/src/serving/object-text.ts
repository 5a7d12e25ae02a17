/** An object as an API server writes it: indented for eyes, else one line. */
export function objectText(value: object, isForEyes: boolean): string {
  return isForEyes ? JSON.stringify(value, undefined, 2) : `${JSON.stringify(value)}\n`
}
