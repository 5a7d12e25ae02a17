/** What one run of `agnhost guestbook` holds: its program fills it when it starts, and its pages read and write it. */
export interface Guestbook {
  readonly values: Map<string, string>
  /** Addresses of those who want to be told of changes. */
  readonly replicas: string[]
}
