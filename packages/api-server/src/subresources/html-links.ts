/**
 * Links of pages that came through a proxy: what leads to the root of the server behind it is made to lead there through the proxy.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, "Proxy".
 */

interface PageSource {
  /** The path of the proxy on this server, without a slash at its end. */
  readonly ownPath: string
  /** Of the server behind it, as links may name it: by its address, and by the name that it was asked by. */
  readonly hosts: readonly string[]
}

/** By element, attributes that hold a URL. */
const LINKS: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
}

/** A tag that has no end yet. Longer ones are none: a page shall not wait for ever. */
const MOST_TAG_CHARS = 65_536

/** Byte by byte as it came, but for the links. */
export async function* withPassedLinks(
  chunks: AsyncIterable<Uint8Array>,
  source: PageSource,
): AsyncGenerator<Uint8Array> {
  let text = ''
  for await (const chunk of chunks) {
    text += Buffer.from(chunk).toString('latin1')
    const open = text.lastIndexOf('<')
    const isWhole = open === -1 || text.indexOf('>', open) !== -1
    const end = isWhole || text.length - open > MOST_TAG_CHARS ? text.length : open
    if (end > 0) yield passed(text.slice(0, end), source)
    text = text.slice(end)
  }
  if (text !== '') yield passed(text, source)
}

function passed(text: string, source: PageSource): Uint8Array {
  const page = text.replaceAll(/<([a-z]+)(\s[^>]*)>/gi, (tag, name: string, attributes: string) => {
    const links = LINKS[name.toLowerCase()]
    return links === undefined ? tag : `<${name}${linksIn(attributes, links, source)}>`
  })
  return Buffer.from(page, 'latin1')
}

function linksIn(attributes: string, links: readonly string[], source: PageSource): string {
  return attributes.replaceAll(
    /([^\s=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"']+)/g,
    (attribute, name: string, equals: string, value: string) => {
      if (!links.includes(name.toLowerCase())) return attribute
      const [quote] = /^["']/.exec(value) ?? ['']
      const link = quote === '' ? value : value.slice(1, -1)
      return `${name}${equals}${quote}${passedLink(link, source)}${quote}`
    },
  )
}

/** A link to elsewhere, and one that is relative, stays as it is. */
export function passedLink(link: string, { ownPath, hosts }: PageSource): string {
  const [, host, path = '', rest = ''] =
    /^\s*(?:(?:[a-z][a-z\d+.-]*:)?\/\/([^/?#]*))?(\/[^?#]*)([^]*?)\s*$/i.exec(link) ?? []
  if (path === '' || (host !== undefined && !hosts.includes(host))) return link
  if (path.startsWith(ownPath)) return `${path}${rest}`
  const { pathname } = new URL(`http://host${path.replaceAll(/\/{2,}/g, '/')}`)
  return `${ownPath}${pathname}${rest}`
}
