  // What the scripts of all pages share. Texts, labels and names are hostile: they reach a page as textContent only.
  const NOTHING = "Nothing is marked: no word of this text decided; the label is the default one.";
  const byId = (id) => document.getElementById(id);
  const DATA = JSON.parse(byId("data").textContent);

  const element = (name, className, content) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (content !== undefined) made.textContent = content;
    return made;
  };

  // rows: the name of a class, its probability in per cent, whether it is the label.
  const bars = (rows, digits) => rows.flatMap(([name, percent, chosen]) => {
    const bar = element("div", chosen ? "bar own" : "bar"), length = element("i");
    length.style.width = `${percent}%`;
    bar.append(length);
    return [element("span", "", name), bar, element("span", "number", `${percent.toFixed(digits)} %`)];
  });
