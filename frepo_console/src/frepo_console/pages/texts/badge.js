// The texts of the badge.

export const t = {
  title: "Badge",
  text: "A picture of the state, for a wiki or a README. Whoever has its address sees the state, and nothing else.",
  alt: "The badge as it is now",
  show: "Show the address",
  copy: "Copy the address",
};
