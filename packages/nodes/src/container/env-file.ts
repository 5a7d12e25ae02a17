/** Files of environment variables that containers name by `fileKeyRef`: `NAME='value'` lines. Pure. */

export class BadEnvFile extends Error {}

/**
 * The value of a name, which may go over several lines; undefined: it is not there, or empty. A line that is neither blank, nor a
 * comment, nor of that form makes the file a bad one, unless the name stands before it.
 */
export function valueInEnvFile(text: string, name: string): string | undefined {
  let rest = text
  while (rest !== '') {
    const [skipped] = /^[ \t]*(?:#[^\n]*)?(?:\n|$)/.exec(rest) ?? []
    if (skipped !== undefined) {
      rest = rest.slice(skipped.length)
      continue
    }
    // A blank after the sign leaves the name without a value.
    const [empty, unset] = /^[ \t]*([^\s=]+)=[ \t]+[^\n]*(?:\n|$)/.exec(rest) ?? []
    const [whole, found, value] =
      /^[ \t]*([^\s=]+)='([^']*)'[ \t]*(?:#[^\n]*)?(?:\n|$)/.exec(rest) ?? []
    const line = whole ?? empty
    if (line === undefined) throw new BadEnvFile(rest.split('\n', 1)[0])
    if (found === name) return value || undefined
    if (unset === name) return undefined
    rest = rest.slice(line.length)
  }
  return undefined
}
