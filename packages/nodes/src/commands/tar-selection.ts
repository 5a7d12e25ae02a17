/** Which members of an archive are meant, and what they are called where they are put. Pure. */
import { matchesGlob } from '../files/glob.ts'

/** `*.log`, `node_modules`, `a/b`: what stands anywhere in a path, and all that is below it. */
export function isExcluded(name: string, patterns: readonly string[]): boolean {
  if (patterns.length === 0) return false
  const parts = name.split('/').filter((part) => part !== '')
  return parts.some((_, at) => {
    const from = parts.slice(at).join('/')
    return patterns.some((given) => {
      const pattern = given.replace(/(?<=.)\/+$/, '')
      return matchesGlob(pattern, from) || matchesGlob(`${pattern}/*`, from)
    })
  })
}

/** Of the names that are asked for, the one that a member is, or is below. */
export function askedAs(name: string, asked: readonly string[]): string | undefined {
  const plain = withoutSlash(name)
  return asked.find((each) => `${plain}/`.startsWith(`${withoutSlash(each)}/`))
}

/** What would lead out of the folder that names count from: a slash at first, and all up to the last `..`. */
export function leadingOut(name: string): string {
  return /^(?:.*(?<![^/])\.\.(?![^/]))?\/*/s.exec(name)![0]
}

export function withoutLeading(name: string): string {
  return name.slice(leadingOut(name).length) || '.'
}

/** Without so many names at first; empty: nothing is left. */
export function strippedOf(name: string, count: number): string {
  if (count === 0) return name
  return name
    .split('/')
    .filter((part) => part !== '')
    .slice(count)
    .join('/')
}

export function withoutSlash(name: string): string {
  return name.replace(/(?<=.)\/+$/s, '')
}
