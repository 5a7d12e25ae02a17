/** Continue tokens. Contract: docs/behaviour/api-server/storage-and-watch.md, "Pages". */
import { badRequest } from '../../http/errors.ts'
import { goJsonError } from '@gyropilot/schema/go-json-error'

const VERSION = 'meta.k8s.io/v1'

interface Page {
  /** -1: the latest state. */
  readonly revision: number
  /** The first key that is not shown yet lies at or after this one; relative to the listed scope. */
  readonly start: string
}

/** The token of the page after `lastKey`. The zero byte makes the key that directly follows it. */
export function encodeContinue(revision: number, lastKey: string): string {
  return encodeStart(revision, `/${lastKey}\u0000`)
}

/** A token that starts at a key, with or without the slash before it. */
export function encodeStart(revision: number, start: string): string {
  const json = `{"v":${JSON.stringify(VERSION)},"rv":${revision},"start":${JSON.stringify(start)}}`
  return Buffer.from(json).toString('base64url')
}

/** Throws 400. */
export function decodeContinue(token: string): Page {
  const refuse = (detail: string) =>
    badRequest(`invalid continue token: continue key is not valid: ${detail}`)
  const text = decodeBase64Url(token)
  if (typeof text !== 'string') throw refuse(`illegal base64 data at input byte ${text.illegalAt}`)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw refuse(goJsonError(Buffer.from(token, 'base64url')))
  }
  const { v, rv, start } = fieldsOf(parsed, refuse)
  if (v !== VERSION)
    throw badRequest(
      `invalid continue token: continue key is not valid: server does not recognize this encoded version ${v}`,
    )
  if (rv === 0) throw refuse(`incorrect encoded start resourceVersion (version ${VERSION})`)
  if (start === '') throw refuse(`encoded start key empty (version ${VERSION})`)
  const key = start.startsWith('/') ? start.slice(1) : start
  if (`/${key}`.split('/').some((part) => part === '..' || part === '.') || key.startsWith('/'))
    throw refuse(start)
  return { revision: rv, start: key }
}

interface TokenFields {
  readonly v: string
  readonly rv: number
  readonly start: string
}

/** What Go would read; the first value of a wrong type is refused. */
function fieldsOf(parsed: unknown, refuse: (detail: string) => Error): TokenFields {
  const found = { v: '', rv: 0, start: '' }
  if (parsed === null) return found
  if (typeof parsed !== 'object' || Array.isArray(parsed))
    throw refuse(
      `json: cannot unmarshal ${jsonKind(parsed)} into Go value of type storage.continueToken`,
    )
  for (const [name, value] of Object.entries(parsed)) {
    if (value === null || !Object.hasOwn(found, name)) continue
    const field = name as keyof TokenFields
    const integral = typeof value === 'number' && Number.isInteger(value)
    if (field === 'rv' ? !integral : typeof value !== 'string') {
      const kind = typeof value === 'number' && field === 'rv' ? `number ${value}` : jsonKind(value)
      const type = field === 'rv' ? 'int64' : 'string'
      throw refuse(
        `json: cannot unmarshal ${kind} into Go struct field continueToken.${name} of type ${type}`,
      )
    }
    Object.assign(found, { [field]: value })
  }
  return found
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

const BASE64_URL = /^[A-Za-z0-9_-]*$/

function decodeBase64Url(text: string): string | { readonly illegalAt: number } {
  if (!BASE64_URL.test(text))
    return { illegalAt: [...text].findIndex((char) => !BASE64_URL.test(char)) }
  if (text.length % 4 === 1) return { illegalAt: text.length - 1 }
  return Buffer.from(text, 'base64url').toString()
}
