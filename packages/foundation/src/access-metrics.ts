/** What the metrics of who asks and who may have in common in every server of Kubernetes. */

/** Of an authentication or authorization, in seconds: a millisecond, doubled 14 times. */
export const DECISION_BUCKETS_SECONDS: readonly number[] = Array.from(
  { length: 15 },
  (_, power) => 2 ** power / 1000,
)

const HOUR = 3600
const DAY = 24 * HOUR

/** Of how long the certificate of a client is valid yet. */
export const CERTIFICATE_LIFETIME_BUCKETS_SECONDS: readonly number[] = [
  0,
  HOUR / 2,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  ...[1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * DAY),
]

const NAMED: ReadonlySet<string> = new Set([
  'admin',
  'client',
  'kube_proxy',
  'kubelet',
  'system:serviceaccount:kube-system:default',
])

/** The label of a user who is counted: few are told apart, for there may be any number of them. */
export function countedUserName(userName: string): string {
  if (NAMED.has(userName)) return userName
  return userName.includes('@') ? 'email_id' : 'other'
}
