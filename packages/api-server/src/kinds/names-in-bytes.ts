/** Names that kube-apiserver 1.36 checks by what is declared of the kind, in other words than those of all others. */
import { dnsSubdomain } from '@gyropilot/schema/validation/names'
import type { NameCheck } from '@gyropilot/schema/validation/metadata'

/** The length is counted in bytes, in words too; a prefix to be completed is not judged. */
export const subdomainInBytes: NameCheck = (given, generated) =>
  generated ? [] : inBytes(dnsSubdomain(given))

/** What is said of a name, as it is said of such kinds. */
export function inBytes(messages: readonly string[]): string[] {
  return messages.map((message) => message.replace(/characters$/, 'bytes'))
}
