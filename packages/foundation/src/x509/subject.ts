/** Who a certificate is about, as Kubernetes' own signers carry it over from a request: some attributes, in an order of their own. */
import * as der from './der.ts'
import { TAG, childrenOf, objectIdentifierOf } from './der-reader.ts'
import type { DerElement } from './der-reader.ts'

/** Values of the attributes that are carried over; others are lost. */
export interface Subject {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** By object identifier: all that were given, of those above too. */
  readonly attributes: ReadonlyMap<string, readonly string[]>
}

const COMMON_NAME = '2.5.4.3'
const ORGANIZATION = '2.5.4.10'
const SERIAL_NUMBER = '2.5.4.5'
/** Country, state, locality, street, postal code, organization, unit: several values each. */
const LISTED = [
  '2.5.4.6',
  '2.5.4.8',
  '2.5.4.7',
  '2.5.4.9',
  '2.5.4.17',
  ORGANIZATION,
  '2.5.4.11',
] as const
/** The last value counts. */
const SINGLE = [COMMON_NAME, SERIAL_NUMBER] as const
const CARRIED: ReadonlySet<string> = new Set([...LISTED, ...SINGLE])

/** Of a Name. Throws DerError. */
export function readSubject(name: DerElement | undefined): Subject {
  const attributes = new Map<string, string[]>()
  for (const set of childrenOf(name, TAG.sequence)) {
    for (const attribute of childrenOf(set, TAG.set)) {
      const [type, value] = childrenOf(attribute, TAG.sequence)
      const oid = objectIdentifierOf(type)
      const text = value === undefined ? undefined : textOf(value)
      if (text === undefined || !CARRIED.has(oid)) continue
      attributes.set(oid, [...(attributes.get(oid) ?? []), text])
    }
  }
  return {
    commonName: attributes.get(COMMON_NAME)?.at(-1) ?? '',
    organizations: attributes.get(ORGANIZATION) ?? [],
    attributes,
  }
}

/** A Name: one set for each kind of attribute. */
export function writeSubject({ attributes }: Pick<Subject, 'attributes'>): Buffer {
  const sets: Buffer[] = []
  for (const oid of LISTED) {
    const values = attributes.get(oid) ?? []
    if (values.length > 0) sets.push(attributeSet(oid, values))
  }
  for (const oid of SINGLE) {
    const value = attributes.get(oid)?.at(-1) ?? ''
    if (value !== '') sets.push(attributeSet(oid, [value]))
  }
  return der.sequence(...sets)
}

/** The order within a set is that of the bytes. */
function attributeSet(oid: string, values: readonly string[]): Buffer {
  const entries = values.map((text) =>
    der.sequence(
      der.objectIdentifier(oid),
      der.isPrintable(text) ? der.printableString(text) : der.utf8String(text),
    ),
  )
  return der.set(...entries.toSorted(Buffer.compare))
}

/** Undefined for what is no text. */
function textOf({ tag, content }: DerElement): string | undefined {
  switch (tag) {
    case 0x0c:
      return Buffer.from(content).toString('utf8')
    // Numeric, printable, teletex and IA5.
    case 0x12:
    case 0x13:
    case 0x14:
    case 0x16:
      return Buffer.from(content).toString('latin1')
    case 0x1e:
      return Buffer.from(content.length % 2 === 0 ? content : [])
        .swap16()
        .toString('utf16le')
    default:
      return undefined
  }
}
