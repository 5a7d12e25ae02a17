/** Answers in YAML. Loaded when a request first needs it. */
import { Document, Scalar, isScalar, visit } from 'yaml'
import type { ScalarTag, Tags } from 'yaml'

/** Texts of Kubernetes' writer are broken behind so many characters. */
const LINE_WIDTH = 80

/** Keys in order and lists below their keys, as the real server writes them. */
export function formatYaml(value: unknown): string {
  const document = new Document(value, {
    sortMapEntries: true,
    aliasDuplicateObjects: false,
    version: '1.1',
    customTags: withoutLonelyPoint,
  })
  const { tags } = document.schema
  // What would be read as something else is quoted twice, what cannot stand plain once.
  const isAmbiguous = (text: string): boolean =>
    text.includes('\t') ||
    tags.some((tag) => tag.tag !== 'tag:yaml.org,2002:str' && 'test' in tag && tag.test?.test(text))
  visit(document, {
    Scalar(_key, scalar) {
      if (isScalar(scalar) && typeof scalar.value === 'string' && isAmbiguous(scalar.value))
        scalar.type = Scalar.QUOTE_DOUBLE
    },
  })
  return document.toString({
    lineWidth: LINE_WIDTH,
    indentSeq: false,
    defaultStringType: 'PLAIN',
    singleQuote: true,
  })
}

/** A point without digits is a text to Go, and needs no quotes: managedFields are full of them. */
function withoutLonelyPoint(tags: Tags): Tags {
  return tags.map((tag) =>
    typeof tag === 'object' && 'test' in tag && tag.test?.test('.') === true
      ? { ...(tag as ScalarTag), test: /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9_]+)$/ }
      : tag,
  )
}
