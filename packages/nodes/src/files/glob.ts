/** Patterns of file names: `*` is any text, `?` any character, `[a-c]` and `[!a-c]` one of some; a backslash takes the next as it is. Pure. */
import { absolute } from './file-tree.ts'
import type { FileTree } from './file-tree.ts'

/** Takes time in proportion to both lengths at most: a pattern must not hold up everybody. */
export function matchesGlob(glob: string, text: string): boolean {
  const tokens = tokensOf(glob)
  const chars = [...text]
  let [token, char, lastStar, starChar] = [0, 0, -1, 0]
  while (char < chars.length) {
    const current = tokens[token]
    if (current === '*') {
      lastStar = token++
      starChar = char
    } else if (current?.(chars[char]!) === true) {
      token++
      char++
    } else if (lastStar >= 0) {
      token = lastStar + 1
      char = ++starChar
    } else return false
  }
  while (tokens[token] === '*') token++
  return token === tokens.length
}

type Token = '*' | ((char: string) => boolean)

const SET = /^\[(!?)(\]?[^\]]*)\]/s

function tokensOf(glob: string): readonly Token[] {
  const tokens: Token[] = []
  for (let rest = glob; rest !== '';) {
    const char = String.fromCodePoint(rest.codePointAt(0)!)
    const [set, inverse, members = ''] = SET.exec(rest) ?? []
    if (set !== undefined && members !== '') {
      const isMember = membersOf(members)
      tokens.push((other) => isMember(other) === (inverse === ''))
      rest = rest.slice(set.length)
      continue
    }
    const isEscaped = char === '\\' && rest.length > 1
    const literal = isEscaped ? String.fromCodePoint(rest.codePointAt(1)!) : char
    if (char === '*') tokens.push('*')
    else if (char === '?') tokens.push(() => true)
    else tokens.push((other) => other === literal)
    rest = rest.slice(isEscaped ? 1 + literal.length : char.length)
  }
  return tokens
}

function membersOf(members: string): (char: string) => boolean {
  const ranges = members.match(/.-.|./gsu) ?? []
  return (char) =>
    ranges.some((range) => {
      const [from, , to] = range
      return to === undefined ? range === char : from! <= char && char <= to
    })
}

/** As a pattern that is that text only. */
export function literally(text: string): string {
  return text.replaceAll(/[*?[\\]/g, String.raw`\$&`)
}

export function isGlob(pattern: string): boolean {
  return /[*?[]/.test(pattern.replaceAll(/\\./gs, ''))
}

/** Paths that are there, in order; hidden ones only where the pattern has the dot. */
export function pathsOf(pattern: string, files: FileTree, folder: string): readonly string[] {
  const isAbsolute = pattern.startsWith('/')
  const parts = pattern.split('/').filter((part) => part !== '')
  let found = [isAbsolute ? '/' : '']
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    found = found.flatMap((path) =>
      files
        .list(absolute(path, folder))
        .filter(
          (name) => matchesGlob(part, name) && (part.startsWith('.') || !name.startsWith('.')),
        )
        .map((name) => `${path}${path === '' || path.endsWith('/') ? '' : '/'}${name}`)
        .filter((next) => isLast || files.isFolder(absolute(next, folder))),
    )
  }
  return found
}
